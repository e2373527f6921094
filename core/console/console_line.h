/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that a VM is printing: its text, and a cursor which backspace and the simple escape
 * sequences of line editors move. Pure; the console lock guards it.
 */
#ifndef CORE_CONSOLE_CONSOLE_LINE_H
#define CORE_CONSOLE_CONSOLE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/console/ansi.h"

#define CONSOLE_LINE_BYTES 384u

struct console_line {
	struct ansi ansi;
	uint16_t len;   /* bytes in text[], 0..CONSOLE_LINE_BYTES */
	uint16_t pos;   /* cursor, 0..len, never inside a UTF-8 character */
	bool cr;        /* a CR was seen; what follows decides what it meant */
	bool continued; /* the line's beginning went out as a piece of its own */
	bool ended;     /* the VM is no more */
	bool hinted;    /* the user was told so */
	uint16_t steps; /* bytes moved and characters passed since somebody set it to 0 */
	char text[CONSOLE_LINE_BYTES];
};

/* An empty line; ended, hinted and the state of ansi stay. */
void console_line_reset(struct console_line *l);

/* Characters from the cursor to the end. */
unsigned int console_line_behind(const struct console_line *l);

void console_line_left(struct console_line *l);

/* Replaces the character at the cursor by this one of n bytes, or appends it, and steps over it.
 * False, with nothing changed, if there is no room. */
bool console_line_put(struct console_line *l, const char *bytes, unsigned int n);

/* Carries out the escape sequence that l->ansi has just completed: cursor left and right, erase to
 * the end. All others have no effect on the text. */
void console_line_escape(struct console_line *l);

#endif
