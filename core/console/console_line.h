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
	uint16_t framed;  /* of these, those that were sent again because frames have begun */
	bool cr;          /* a CR was seen; the next byte decides what it means */
	bool continued;   /* an earlier piece of the line has been printed */
	bool ended;       /* the VM has ended */
	uint8_t sequence; /* the state of an escape sequence */
	uint8_t missing;  /* bytes that the unfinished character lacks */
	uint8_t unit_len;
	char unit[5];  /* the last character, or the beginning of one */
	uint32_t code; /* its code point, so far */
	char text[CONSOLE_LINE_BYTES];
};

/* Empties the line. An unfinished character or sequence stays, and so does `ended`. */
void console_line_reset(struct console_line *l);

/* Empties the line, and drops an unfinished character or sequence. */
void console_line_restart(struct console_line *l);

/*
 * Feeds one byte. Returns true if it completes a character in unit[]; \n, \r, \b and \t are
 * characters, too. \n and \r end any unfinished character or sequence. A byte that is not valid
 * UTF-8 there, or a C1 control, gives '?'. Unfinished characters and all other control bytes are
 * left out.
 */
bool console_line_feed(struct console_line *l, uint8_t ch);

/* Returns bytes that bring another reader into the same state, inside a character or sequence. They
 * do not have the parameters of a sequence, nor the text of a string. */
const char *console_line_unfinished(struct console_line *l);

/* Appends the character in unit[]. Returns false, and changes nothing, if there is no room. */
bool console_line_put(struct console_line *l);

/* Removes the last character. Returns false if there is none. */
bool console_line_back(struct console_line *l);

#endif
