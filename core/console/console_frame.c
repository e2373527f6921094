/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for programs (docs/frames.md): each VM's bytes as they come, percent-encoded, so that none
 * of them ends a frame or begins one.
 */
#include <string.h>

#include "core/console/console_parts.h"
#include "core/lib/printf.h"

void console_frame_line(struct console *c, const char *kind, const char *text)
{
	/* Answers come without frames, too, and then leave a line open that a person types. */
	if (c->frames)
		console_close(c);
	console_put_text(c, RS);
	console_put_text(c, kind);
	console_put_text(c, text);
	console_put(c, "\n", 1);
}

static void encode(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	char head[] = {RS[0], (char)('A' + vm)};

	if (c->open != vm && n > 0) {
		console_close(c);
		console_put(c, head, sizeof(head));
		c->open = vm;
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t ch = (uint8_t)bytes[i];
		char code[] = {'%', "0123456789ABCDEF"[ch >> 4], "0123456789ABCDEF"[ch & 15]};

		if (ch < ' ' || ch == 0x7f || ch == '%')
			console_put(c, code, sizeof(code));
		else
			console_put(c, bytes + i, 1);
	}
}

size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0;

	console_frames_kept(c, vm);
	while (done < n && (done == 0 || c->work < WORK_BYTES))
		encode(c, vm, bytes + done++, 1);
	/* For the time after frames: that line's beginning went out as a piece of its own. */
	if (done > 0)
		c->lines[vm].continued = bytes[done - 1] != '\n';
	return done;
}

/* The line's text, then what it does not say: where the cursor is, and what is not complete. */
void console_frames_kept(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	unsigned int behind = console_line_behind(l);
	char move[16] = "";

	if (!c->frames || vm >= c->n_vms)
		return;
	encode(c, vm, l->text, l->len);
	if (behind > 0)
		(void)tally_snprintf(move, sizeof(move), "\033[%uD", behind);
	encode(c, vm, move, strlen(move));
	encode(c, vm, "\r", l->cr);
	encode(c, vm, ansi_unfinished(&l->ansi), strlen(ansi_unfinished(&l->ansi)));
	console_line_reset(l);
	ansi_init(&l->ansi);
}

void console_frames_begin(struct console *c)
{
	char name[CONSOLE_NAME_BYTES + 3];

	/* The line that is open is a VM's first output all the same. */
	if (!c->frames && c->open != CONSOLE_NOBODY) {
		console_put_text(c, c->interactive ? "\r\n" : "\n");
		c->open = CONSOLE_NOBODY;
	}
	if (c->focus == CONSOLE_PROMPT)
		c->focus = c->back;
	c->frames = true;
	console_frame_line(c, "+", "");
	for (unsigned int i = 0; i < c->n_vms; i++) {
		(void)tally_snprintf(name, sizeof(name), "%c %.*s", 'A' + i,
		                     (int)CONSOLE_NAME_BYTES, c->names[i]);
		console_frame_line(c, ":", name);
	}
}

void console_frames_end(struct console *c)
{
	if (!c->frames)
		return;
	console_frame_line(c, "-", "");
	c->frames = false;
}
