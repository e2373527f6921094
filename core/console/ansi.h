/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts what a terminal program prints into whole units: a character (ASCII or well-formed UTF-8), a
 * control byte, an escape sequence of the simple form ESC [ NUMBER LETTER. All other sequences are
 * left out. Pure; whoever owns the state holds its lock.
 */
#ifndef CORE_CONSOLE_ANSI_H
#define CORE_CONSOLE_ANSI_H

#include <stdbool.h>
#include <stdint.h>

#define ANSI_MAX_NUMBER 255 /* what is larger counts as this */

enum ansi_token {
	ANSI_NONE,    /* nothing complete yet, or something that is left out */
	ANSI_CHAR,    /* one printable character: bytes[0..len) */
	ANSI_CONTROL, /* one C0 control byte or DEL: bytes[0] */
	ANSI_CSI,     /* an escape sequence: its letter is bytes[0], its number 0 if it has none */
};

struct ansi {
	uint8_t state;
	uint8_t need;   /* UTF-8 bytes still missing */
	uint8_t len;    /* of bytes[] */
	bool plain;     /* ESC and nothing else yet */
	int16_t number; /* -1: the sequence has another form */
	char bytes[5];
};

void ansi_init(struct ansi *a);

/*
 * Feeds one byte. CR and LF are always reported, and abort whatever is incomplete. Strings meant
 * for the terminal itself (OSC, DCS, PM, APC, SOS) are left out. A byte that cannot be part of
 * UTF-8 there, or a character that is a C1 control, is reported as the character '?'. A character
 * cut short by another unit is left out.
 */
enum ansi_token ansi_feed(struct ansi *a, uint8_t byte);

/* Bytes that bring another reader to where this one is, inside of a unit; but for the parameters of
 * a sequence and the text of a string. */
const char *ansi_unfinished(struct ansi *a);

#endif
