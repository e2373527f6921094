/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts what a terminal program prints into whole units: a character (ASCII or well-formed UTF-8), a
 * control byte, an escape sequence. A unit is reported only when complete, so that two writers who
 * share a terminal never cut each other's sequences. Pure; whoever owns the state holds its lock.
 */
#ifndef CORE_CONSOLE_ANSI_H
#define CORE_CONSOLE_ANSI_H

#include <stdbool.h>
#include <stdint.h>

#define ANSI_MAX_BYTES 32u /* a longer escape sequence is left out as a whole */

enum ansi_token {
	ANSI_NONE,    /* nothing complete yet, or something that is left out */
	ANSI_CHAR,    /* one printable character: bytes[0..len) */
	ANSI_CONTROL, /* one C0 control byte or DEL: bytes[0] */
	ANSI_ESCAPE,  /* an escape sequence: bytes[0..len), from ESC to the final byte */
};

struct ansi {
	uint8_t state;
	uint8_t need;  /* UTF-8 bytes still missing */
	uint8_t len;   /* 0..ANSI_MAX_BYTES */
	bool overlong; /* the sequence did not fit */
	char bytes[ANSI_MAX_BYTES];
};

void ansi_init(struct ansi *a);

/*
 * Feeds one byte. CR and LF are always reported, and abort whatever is incomplete. Strings meant
 * for the terminal itself (OSC, DCS, PM, APC, SOS) are left out. A byte that cannot be part of
 * UTF-8 there, or a character that is a C1 control, is reported as the character '?'. A character
 * cut short by another unit is left out.
 */
enum ansi_token ansi_feed(struct ansi *a, uint8_t byte);

/* So many bytes of a unit that is not complete are in bytes[]. */
unsigned int ansi_unfinished(const struct ansi *a);

#endif
