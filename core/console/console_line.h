/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that a VM is printing, made of whole characters: ASCII, tabs and well-formed UTF-8.
 * Escape sequences are left out. Pure; the console lock guards it.
 */
#ifndef CORE_CONSOLE_CONSOLE_LINE_H
#define CORE_CONSOLE_CONSOLE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define CONSOLE_LINE_BYTES 384u

struct console_line {
	uint16_t len;     /* bytes in text[], 0..CONSOLE_LINE_BYTES */
	bool cr;          /* a CR was seen; what follows decides what it meant */
	bool continued;   /* the line's beginning went out as a piece of its own */
	bool ended;       /* the VM is no more */
	uint8_t sequence; /* how far an escape sequence has come */
	uint8_t missing;  /* bytes of the character that has begun */
	uint8_t unit_len;
	char unit[5];  /* the character that came last, or the beginning of one */
	uint32_t code; /* its code point, so far */
	char text[CONSOLE_LINE_BYTES];
};

/* An empty line. Whether the VM has ended, and what its last bytes began, stays. */
void console_line_reset(struct console_line *l);

/* Nothing has begun. */
void console_line_restart(struct console_line *l);

/*
 * Feeds one byte. Returns true if it has completed a character, which is in unit[], or is \n, \r,
 * \b or \t. \n and \r end whatever is incomplete. A byte that cannot be part of UTF-8 there, or a
 * character that is a C1 control, gives '?'. A character cut short is left out, and so is each
 * other control byte.
 */
bool console_line_feed(struct console_line *l, uint8_t ch);

/* Bytes that bring another reader to where this one is, inside of a character or sequence; but for
 * the parameters of a sequence and the text of a string. */
const char *console_line_unfinished(struct console_line *l);

/* Appends the character in unit[]. False, with nothing changed, if there is no room. */
bool console_line_put(struct console_line *l);

/* Takes the last character off; false if there is none. */
bool console_line_back(struct console_line *l);

#endif
