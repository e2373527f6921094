/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/ansi.h"

#define CAN 0x18u
#define SUB 0x1au
#define ESC 0x1bu
#define DEL 0x7fu

/* ECMA-48, section 5.4, and the two-byte forms of ECMA-35. */
enum state {
	GROUND,
	UTF8,   /* inside a character of several bytes */
	ESCAPE, /* after ESC, or after ESC and intermediate bytes */
	CSI,    /* after ESC [ */
	STRING, /* in a string that is left out: ends with BEL, or with ESC \ */
};

void ansi_init(struct ansi *a)
{
	*a = (struct ansi){.state = GROUND};
}

static void start(struct ansi *a, enum state state, uint8_t byte)
{
	a->state = (uint8_t)state;
	a->bytes[0] = (char)byte;
	a->len = 1;
	a->overlong = false;
}

static void append(struct ansi *a, uint8_t byte)
{
	if (a->len < ANSI_MAX_BYTES)
		a->bytes[a->len++] = (char)byte;
	else
		a->overlong = true;
}

static enum ansi_token single(struct ansi *a, enum ansi_token token, uint8_t byte)
{
	start(a, GROUND, byte);
	return token;
}

static enum ansi_token escape_end(struct ansi *a, uint8_t byte)
{
	append(a, byte);
	a->state = GROUND;
	return a->overlong ? ANSI_NONE : ANSI_ESCAPE;
}

static enum ansi_token ground(struct ansi *a, uint8_t byte)
{
	if (byte == ESC) {
		start(a, ESCAPE, byte);
		return ANSI_NONE;
	}
	if (byte < 0x20 || byte == DEL)
		return single(a, ANSI_CONTROL, byte);
	if (byte < 0x80)
		return single(a, ANSI_CHAR, byte);
	/* 0x80..0xbf are no beginning, 0xc0 and 0xc1 would be overlong, 0xf5.. above U+10FFFF. */
	if (byte < 0xc2 || byte > 0xf4)
		return single(a, ANSI_CHAR, '?');
	start(a, UTF8, byte);
	a->need = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	return ANSI_NONE;
}

/* May byte be the second one after this first? Unicode, table 3-7; and not C1 (U+0080..009F). */
static bool second_ok(uint8_t first, uint8_t byte)
{
	switch (first) {
	case 0xc2:
	case 0xe0:
		return byte >= 0xa0;
	case 0xed:
		return byte < 0xa0;
	case 0xf0:
		return byte >= 0x90;
	case 0xf4:
		return byte < 0x90;
	default:
		return true;
	}
}

static enum ansi_token utf8(struct ansi *a, uint8_t byte)
{
	if (byte < 0x80 || byte >= 0xc0)
		return ground(a, byte);
	if (a->len == 1 && !second_ok((uint8_t)a->bytes[0], byte))
		return single(a, ANSI_CHAR, '?');
	append(a, byte);
	a->need--;
	if (a->need != 0)
		return ANSI_NONE;
	a->state = GROUND;
	return ANSI_CHAR;
}

/* Bytes that mean the same wherever in an escape sequence or string they come. */
static bool aborts(uint8_t byte)
{
	return byte == '\r' || byte == '\n' || byte == ESC || byte >= 0x80;
}

static enum ansi_token escape(struct ansi *a, uint8_t byte)
{
	bool first = a->len == 1;

	if (byte < 0x20 || byte == DEL)
		return ANSI_NONE;
	if (byte < 0x30) {
		append(a, byte);
		return ANSI_NONE;
	}
	if (first && byte == '[') {
		append(a, byte);
		a->state = CSI;
		return ANSI_NONE;
	}
	if (first && (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')) {
		append(a, byte);
		a->state = STRING;
		return ANSI_NONE;
	}
	return escape_end(a, byte);
}

static enum ansi_token csi(struct ansi *a, uint8_t byte)
{
	if (byte < 0x20 || byte == DEL)
		return ANSI_NONE;
	if (byte >= 0x40)
		return escape_end(a, byte);
	append(a, byte);
	return ANSI_NONE;
}

enum ansi_token ansi_feed(struct ansi *a, uint8_t byte)
{
	if (a->state == GROUND)
		return ground(a, byte);
	if (a->state == UTF8)
		return utf8(a, byte);
	if (byte == CAN || byte == SUB) {
		a->state = GROUND;
		return ANSI_NONE;
	}
	/* UTF-8 is common in strings (a window title), and no end of one. */
	if (aborts(byte) && !(a->state == STRING && byte >= 0x80))
		return ground(a, byte);
	if (a->state == ESCAPE)
		return escape(a, byte);
	if (a->state == CSI)
		return csi(a, byte);
	if (byte == '\a')
		a->state = GROUND;
	return ANSI_NONE;
}

unsigned int ansi_unfinished(const struct ansi *a)
{
	return a->state == GROUND ? 0 : a->len;
}
