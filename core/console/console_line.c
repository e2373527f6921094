/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/console_line.h"

void console_line_reset(struct console_line *l)
{
	l->len = 0;
	l->pos = 0;
	l->cr = false;
	l->continued = false;
	l->drawn = false;
}

bool console_line_is_blank(const struct console_line *l)
{
	return l->len == 0 && !l->continued;
}

bool console_is_char_start(char ch)
{
	return ((uint8_t)ch & 0xc0) != 0x80;
}

/* Bytes of the character at pos < len. */
static unsigned int char_bytes(const struct console_line *l)
{
	unsigned int n = 1;

	while (l->pos + n < l->len && !console_is_char_start(l->text[l->pos + n]))
		n++;
	return n;
}

void console_line_left(struct console_line *l)
{
	l->steps++;
	while (l->pos > 0) {
		l->pos--;
		if (console_is_char_start(l->text[l->pos]))
			break;
	}
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
	if (n != old)
		l->steps = (uint16_t)(l->steps + tail);
	if (n > old) {
		for (unsigned int i = tail; i-- > 0;)
			at[n + i] = at[old + i];
	} else if (n < old) {
		for (unsigned int i = 0; i < tail; i++)
			at[n + i] = at[old + i];
	}
	for (unsigned int i = 0; i < n; i++)
		at[i] = bytes[i];
	l->len = (uint16_t)(l->len - old + n);
	l->pos = (uint16_t)(l->pos + n);
	return true;
}

/* The number in a sequence of the form ESC [ digits letter: 0 without digits, at most
 * CONSOLE_LINE_BYTES, -1 if it has another form. */
static int csi_number(const struct ansi *a)
{
	int n = 0;

	if (a->len < 3 || a->bytes[1] != '[')
		return -1;
	for (unsigned int i = 2; i + 1 < a->len; i++) {
		if (a->bytes[i] < '0' || a->bytes[i] > '9')
			return -1;
		n = n * 10 + (a->bytes[i] - '0');
		if (n > (int)CONSOLE_LINE_BYTES)
			n = (int)CONSOLE_LINE_BYTES;
	}
	return n;
}

void console_line_escape(struct console_line *l)
{
	int n = csi_number(&l->ansi);

	if (n < 0)
		return;
	switch (l->ansi.bytes[l->ansi.len - 1]) {
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
