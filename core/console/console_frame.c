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

static void send_name(struct console *c, unsigned int vm)
{
	char name[CONSOLE_NAME_BYTES + 3];

	if (!(c->unnamed >> vm & 1))
		return;
	c->unnamed &= ~(1u << vm);
	(void)tally_snprintf(name, sizeof(name), "%c %s", 'A' + vm, c->names[vm]);
	frame_line(c, ":", name);
}

bool console_frames_vm(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	const char *unfinished = console_line_unfinished(l);

	c->work = 0;
	if (!c->frames)
		return true;
	send_name(c, vm);
	l->framed += (uint16_t)encode(c, vm, l->text + l->framed, l->len - l->framed, WORK_BYTES);
	if (l->framed < l->len)
		return false;
	(void)encode(c, vm, "\r", l->cr, SIZE_MAX);
	(void)encode(c, vm, unfinished, strlen(unfinished), SIZE_MAX);
	console_line_restart(l);
	return true;
}

size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done, most = console_most(c);

	if (most == 0 || !console_frames_vm(c, vm))
		return 0;
	done = encode(c, vm, bytes, n, most);
	/* After frames end, the rest of an unfinished line is another piece. */
	if (done > 0)
		c->lines[vm].continued = bytes[done - 1] != '\n';
	return done;
}

static void begin(struct console *c)
{
	/* The text of the open line is sent again, as that VM's first output. */
	if (!c->frames && c->open != CONSOLE_NOBODY) {
		console_put_text(c, c->interactive ? "\r\n" : "\n");
		c->open = CONSOLE_NOBODY;
	}
	if (c->focus == CONSOLE_PROMPT)
		c->focus = c->back;
	c->frames = true;
	c->unnamed = (1u << c->n_vms) - 1;
	for (unsigned int i = 0; i < c->n_vms; i++)
		c->lines[i].framed = 0;
	frame_line(c, "+", "");
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
