/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for programs (docs/frames.md). They carry each VM's bytes percent-encoded, so that no byte
 * can begin or end a frame.
 */
#include <string.h>

#include "core/console/console_parts.h"
#include "core/lib/printf.h"

static void frame_line(struct console *c, const char *kind, const char *text)
{
	/* Without frames, an answer does not end the line that a person is typing. */
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

/* Encodes the part of vm's unfinished line that it has printed already. */
static void encode_kept(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	const char *unfinished = console_line_unfinished(l);

	encode(c, vm, l->text, l->len);
	encode(c, vm, "\r", l->cr);
	encode(c, vm, unfinished, strlen(unfinished));
	console_line_restart(l);
}

size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0, most = console_most(c);

	if (c->lines[vm].len > 0 && c->room < CONSOLE_CALL_MOST)
		return 0;
	encode_kept(c, vm);
	while (done < n && most && (done == 0 || c->work < most))
		encode(c, vm, bytes + done++, 1);
	/* After frames end, the rest of an unfinished line is another piece. */
	if (done > 0)
		c->lines[vm].continued = bytes[done - 1] != '\n';
	return done;
}

static void begin(struct console *c)
{
	char name[CONSOLE_NAME_BYTES + 3];

	/* The text of the open line is sent again, as that VM's first output. */
	if (!c->frames && c->open != CONSOLE_NOBODY) {
		console_put_text(c, c->interactive ? "\r\n" : "\n");
		c->open = CONSOLE_NOBODY;
	}
	if (c->focus == CONSOLE_PROMPT)
		c->focus = c->back;
	c->frames = true;
	frame_line(c, "+", "");
	for (unsigned int i = 0; i < c->n_vms; i++) {
		(void)tally_snprintf(name, sizeof(name), "%c %s", 'A' + i, c->names[i]);
		frame_line(c, ":", name);
	}
}

void console_frames(struct console *c, bool on)
{
	if (on)
		begin(c);
	else if (c->frames)
		frame_line(c, "-", "");
	c->frames = on;
}

void console_answer(struct console *c, const char *id, const char *text, unsigned int status)
{
	char head[CONSOLE_ID_BYTES + 16];

	if (text)
		(void)tally_snprintf(head, sizeof(head), "=%s ", id);
	else
		(void)tally_snprintf(head, sizeof(head), ".%s %u", id, status);
	frame_line(c, head, text ? text : "");
}
