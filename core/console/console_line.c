/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/console/console_line.h"

void console_line_reset(struct console_line *l)
{
	l->len = 0;
	l->pos = 0;
	l->cr = false;
	l->continued = false;
}

static bool is_char_start(char ch)
{
	return ((uint8_t)ch & 0xc0) != 0x80;
}

unsigned int console_line_behind(const struct console_line *l)
{
	unsigned int n = 0;

	for (unsigned int i = l->pos; i < l->len; i++)
		n += is_char_start(l->text[i]);
	return n;
}

/* Bytes of the character at pos < len. */
static unsigned int char_bytes(const struct console_line *l)
{
	unsigned int n = 1;

	while (l->pos + n < l->len && !is_char_start(l->text[l->pos + n]))
		n++;
	return n;
}

void console_line_left(struct console_line *l)
{
	l->steps++;
	while (l->pos > 0 && !is_char_start(l->text[--l->pos]))
		;
}

static void right(struct console_line *l)
{
	l->steps++;
	if (l->pos < l->len)
		l->pos = (uint16_t)(l->pos + char_bytes(l));
}

bool console_line_put(struct console_line *l, const char *bytes, unsigned int n)
{
	unsigned int old = l->pos < l->len ? char_bytes(l) : 0;
	unsigned int tail = l->len - l->pos - old;
	char *at = l->text + l->pos;

	if (l->len - old + n > CONSOLE_LINE_BYTES)
		return false;
	if (n != old) {
		l->steps = (uint16_t)(l->steps + tail);
		memmove(at + n, at + old, tail);
	}
	memcpy(at, bytes, n);
	l->len = (uint16_t)(l->len - old + n);
	l->pos = (uint16_t)(l->pos + n);
	return true;
}

void console_line_escape(struct console_line *l)
{
	int n = l->ansi.number;

	switch (l->ansi.bytes[0]) {
	case 'C': /* right; no number means 1, and so does 0 */
		do
			right(l);
		while (--n > 0);
		break;
	case 'D': /* left */
		do
			console_line_left(l);
		while (--n > 0);
		break;
	case 'J': /* erase: 0 from the cursor to the end, of screen or line */
	case 'K':
		if (n == 0)
			l->len = l->pos;
		break;
	default:
		break;
	}
}
