/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts what a terminal program prints into whole units: a character (ASCII or well-formed UTF-8), a
 * control byte, an escape sequence. A unit is reported only when complete, so that two writers who
 * share a terminal never cut each other's sequences. Pure; the caller owns the lock of the state.
 */
#ifndef CORE_ANSI_H
#define CORE_ANSI_H

#include <stdint.h>

#define ANSI_MAX_BYTES 32u /* a longer escape sequence is left out as a whole */

enum ansi_token {
	ANSI_NONE,    /* nothing complete yet, or something that has no effect */
	ANSI_CHAR,    /* one printable character of bytes[0..len) */
	ANSI_CONTROL, /* one C0 control byte, bytes[0] */
	ANSI_ESCAPE, /* an escape sequence of bytes[0..len), ESC included; CSI or two/three bytes */
};

struct ansi {
	uint8_t state; /* enum ansi_state, private */
	uint8_t need;  /* UTF-8 bytes still missing */
	uint8_t len;
	char bytes[ANSI_MAX_BYTES];
};

void ansi_init(struct ansi *a);

/*
 * Feeds one byte. Never holds back a line end: CR and LF abort whatever is incomplete. Strings for
 * the terminal (OSC, DCS, PM, APC, SOS) are left out. A byte that is not well-formed UTF-8, or
 * encodes a C1 control, is reported as the character '?'.
 * When the byte completes one unit only by breaking off another (a UTF-8 character cut short by
 * ASCII), the broken one is silently left out and the new one is handled.
 */
enum ansi_token ansi_feed(struct ansi *a, uint8_t byte);

#endif
