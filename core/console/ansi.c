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

static enum ansi_token single(struct ansi *a, enum ansi_token token, uint8_t byte)
{
	a->state = GROUND;
	a->bytes[0] = (char)byte;
	a->len = 1;
	return token;
}

static enum ansi_token ground(struct ansi *a, uint8_t byte)
{
	if (byte == ESC) {
		a->state = ESCAPE;
		a->plain = true;
		return ANSI_NONE;
	}
	if (byte < 0x20 || byte == DEL)
		return single(a, ANSI_CONTROL, byte);
	if (byte < 0x80)
		return single(a, ANSI_CHAR, byte);
	/* 0x80..0xbf are no beginning, 0xc0 and 0xc1 would be overlong, 0xf5.. above U+10FFFF. */
	if (byte < 0xc2 || byte > 0xf4)
		return single(a, ANSI_CHAR, '?');
	(void)single(a, ANSI_NONE, byte);
	a->state = UTF8;
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
	a->bytes[a->len++] = (char)byte;
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

static void escape(struct ansi *a, uint8_t byte)
{
	if (byte < 0x20 || byte == DEL)
		return;
	if (a->plain && byte == '[') {
		a->state = CSI;
		a->number = 0;
	} else if (a->plain &&
	           (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')) {
		a->state = STRING;
	} else if (byte >= 0x30) {
		a->state = GROUND;
	}
	a->plain = false;
}

static enum ansi_token csi(struct ansi *a, uint8_t byte)
{
	if (byte < 0x20 || byte == DEL)
		return ANSI_NONE;
	if (byte >= 0x40)
		return single(a, a->number < 0 ? ANSI_NONE : ANSI_CSI, byte);
	if (byte < '0' || byte > '9')
		a->number = -1;
	else if (a->number >= 0)
		a->number = (int16_t)(a->number * 10 + (byte - '0'));
	if (a->number > ANSI_MAX_NUMBER)
		a->number = ANSI_MAX_NUMBER;
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
	if (a->state == CSI)
		return csi(a, byte);
	if (a->state == ESCAPE)
		escape(a, byte);
	else if (byte == '\a')
		a->state = GROUND;
	return ANSI_NONE;
}

const char *ansi_unfinished(struct ansi *a)
{
	switch (a->state) {
	case UTF8:
		a->bytes[a->len] = '\0';
		return a->bytes;
	case ESCAPE:
		return "\033";
	case CSI:
		return "\033[";
	case STRING:
		return "\033_";
	default:
		return "";
	}
}
