/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/console/console_line.h"

#define CAN 0x18u
#define SUB 0x1au
#define ESC 0x1bu
#define DEL 0x7fu

/* ECMA-48, section 5.4, and the two-byte forms of ECMA-35. */
enum sequence {
	NONE,
	ESCAPE, /* after ESC */
	CSI,    /* after ESC [ */
	STRING, /* a string for the terminal, until BEL or ESC \ */
};

void console_line_reset(struct console_line *l)
{
	l->len = 0;
	l->framed = 0;
	l->cr = false;
	l->continued = false;
}

void console_line_restart(struct console_line *l)
{
	console_line_reset(l);
	l->sequence = NONE;
	l->missing = 0;
}

static bool single(struct console_line *l, char ch)
{
	l->unit[0] = ch;
	l->unit_len = 1;
	return true;
}

/* Takes a further byte of a character. Overlong forms, surrogates and codes above U+10FFFF are not
 * well-formed (Unicode, table 3-7). U+0080 to U+009F are the C1 controls. */
static bool further(struct console_line *l, uint8_t ch)
{
	static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};

	l->unit[l->unit_len++] = (char)ch;
	l->code = l->code << 6 | (ch & 0x3f);
	if (--l->missing)
		return false;
	if (l->code < least[l->unit_len] || l->code >> 11 == 0xd800 >> 11 || l->code > 0x10ffff)
		return single(l, '?');
	return true;
}

static bool text(struct console_line *l, uint8_t ch)
{
	if (l->missing && ch >= 0x80 && ch < 0xc0)
		return further(l, ch);
	l->missing = 0;
	if (ch == ESC)
		l->sequence = ESCAPE;
	if (ch < ' ' || ch == DEL)
		return ch != 0 && strchr("\n\r\b\t", ch) && single(l, (char)ch);
	if (ch < 0x80)
		return single(l, (char)ch);
	if (ch < 0xc0 || ch >= 0xf8)
		return single(l, '?');
	l->missing = ch < 0xe0 ? 1 : ch < 0xf0 ? 2 : 3;
	l->code = ch & (0x3fu >> l->missing);
	(void)single(l, (char)ch);
	return false;
}

static void sequence(struct console_line *l, uint8_t ch)
{
	if (ch == CAN || ch == SUB || (ch == '\a' && l->sequence == STRING))
		l->sequence = NONE;
	else if (ch < ' ' || ch == DEL || l->sequence == STRING)
		; /* the sequence continues */
	else if (l->sequence == CSI)
		l->sequence = ch < '@' ? CSI : NONE;
	else if (ch >= '0')
		l->sequence = ch == '[' ? CSI : strchr("]PX^_", ch) ? STRING : NONE;
}

bool console_line_feed(struct console_line *l, uint8_t ch)
{
	/* Strings (a window title) often contain UTF-8, which does not end them. */
	if (ch == '\r' || ch == '\n' || ch == ESC || (ch >= 0x80 && l->sequence != STRING))
		l->sequence = NONE;
	if (l->sequence == NONE)
		return text(l, ch);
	sequence(l, ch);
	return false;
}

const char *console_line_unfinished(struct console_line *l)
{
	static const char *const begins[] = {"", "\033", "\033[", "\033_"};

	if (!l->missing)
		return begins[l->sequence];
	l->unit[l->unit_len] = '\0';
	return l->unit;
}

bool console_line_put(struct console_line *l)
{
	if (l->len + l->unit_len > CONSOLE_LINE_BYTES)
		return false;
	for (uint32_t i = 0; i < l->unit_len; i++)
		l->text[l->len++] = l->unit[i];
	return true;
}

bool console_line_back(struct console_line *l)
{
	bool any = l->len > 0;

	while (l->len > 0 && ((uint8_t)l->text[--l->len] & 0xc0) == 0x80)
		;
	return any;
}
