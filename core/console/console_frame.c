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

/* Encodes the first bytes of n, and returns how many: at least one, but no further one once `most`
 * bytes are printed. A few bytes at a time, because each piece of output costs more than a byte. */
static size_t encode(struct console *c, unsigned int vm, const char *bytes, size_t n, size_t most)
{
	char head[] = {RS[0], (char)('A' + vm)}, out[48];
	size_t done, len = 0;

	if (c->open != vm && n > 0) {
		console_close(c);
		console_put(c, head, sizeof(head));
		c->open = vm;
	}
	for (done = 0; done < n && (done == 0 || c->work + len < most); done++) {
		uint8_t ch = (uint8_t)bytes[done];

		if (len > sizeof(out) - 3) {
			console_put(c, out, len);
			len = 0;
		}
		if (ch < ' ' || ch == 0x7f || ch == '%') {
			out[len++] = '%';
			out[len++] = "0123456789ABCDEF"[ch >> 4];
			ch = (uint8_t) "0123456789ABCDEF"[ch & 15];
		}
		out[len++] = (char)ch;
	}
	console_put(c, out, len);
	return done;
}

/* Encodes the part of vm's unfinished line that it has printed already. */
static void encode_kept(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	const char *unfinished = console_line_unfinished(l);

	(void)encode(c, vm, l->text, l->len, SIZE_MAX);
	(void)encode(c, vm, "\r", l->cr, SIZE_MAX);
	(void)encode(c, vm, unfinished, strlen(unfinished), SIZE_MAX);
	console_line_restart(l);
}

size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0, most = console_most(c);

	if (c->lines[vm].len > 0 && c->room < CONSOLE_CALL_MOST)
		return 0;
	encode_kept(c, vm);
	if (most > 0)
		done = encode(c, vm, bytes, n, most);
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
