/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for programs (docs/frames.md): each VM's bytes as they come, percent-encoded, so that none
 * of them ends a frame or begins one.
 */
#include "core/console/console_draw.h"
#include "core/lib/printf.h"

void console_frame_close(struct console *c)
{
	if (c->open == CONSOLE_NOBODY)
		return;
	console_newline(c);
	c->open = CONSOLE_NOBODY;
}

void console_frame_line(struct console *c, const char *kind, const char *text)
{
	console_frame_close(c);
	console_emit_text(c, CONSOLE_RS);
	console_emit_text(c, kind);
	console_emit_text(c, text);
	console_emit_text(c, "\n");
}

static void encode(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	char head[] = {CONSOLE_RS[0], (char)('A' + vm)};

	if (c->open != vm && n > 0) {
		console_frame_close(c);
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

/* What the line's text does not say: where the cursor is, and what is not complete. */
static void encode_rest(struct console *c, unsigned int vm)
{
	const struct console_line *l = &c->lines[vm];
	unsigned int left = 0, n;
	char move[16] = "";

	for (unsigned int i = l->pos; i < l->len; i++)
		left += console_is_char_start(l->text[i]);
	if (left > 0) {
		n = (unsigned int)tally_snprintf(move, sizeof(move), "\033[%uD", left);
		encode(c, vm, move, n);
	}
	if (l->cr)
		encode(c, vm, "\r", 1);
	encode(c, vm, l->ansi.bytes, ansi_unfinished(&l->ansi));
}

void console_frames_kept(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (!c->frames || vm >= c->n_vms)
		return;
	encode(c, vm, l->text, l->len);
	encode_rest(c, vm);
	console_line_reset(l);
	ansi_init(&l->ansi);
}

void console_frames_begin(struct console *c)
{
	char name[CONSOLE_NAME_BYTES + 3];

	console_full_pause(c);
	if (c->n_vms > 0 && c->lines[c->focus].drawn)
		console_newline(c);
	if (c->focus == CONSOLE_PROMPT)
		c->focus = c->back;
	c->frames = true;
	c->framed = true;
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
