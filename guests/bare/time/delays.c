/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How late its windows begin: computes, and notes for `windows=` of them how many ticks after
 * `start=` in the frame of `frame=` ticks it has come back. Prints each delay and how often it was
 * that long, and how many frames went by meanwhile. With `away=` it has been away after more than
 * so many ticks only, instead of 30.
 */
#include "guests/bare/bare.h"

#define MOST 4096U /* ticks; what is longer is noted as this */

static uint64_t seen[MOST + 1];

int delays(uint64_t hartid)
{
	uint64_t frame = bootarg_num("frame", 0), start = bootarg_num("start", 0);
	uint64_t windows = bootarg_num("windows", 100), away = bootarg_num("away", 30);
	uint64_t first = 0, now = 0, last;

	(void)hartid;
	if (!frame)
		return 1;
	/* From here on it does nothing but look, so it is in back_after() when a window begins. */
	last = csr_read(time);
	for (uint64_t i = 0; i < windows; i++, last = now) {
		uint64_t delay;

		now = back_after(&last, away);
		/* One that begins before its start is a frame late. */
		delay = (now + frame - start) % frame;
		seen[delay < MOST ? delay : MOST]++;
		if (!first)
			first = now;
	}
	for (uint64_t i = 0; i <= MOST; i++) {
		if (!seen[i])
			continue;
		print("delay %u ticks, ", i);
		print("%u times\n", seen[i]);
	}
	print("delays: %u windows in", windows);
	print(" %u frames\n", (now - start) / frame - (first - start) / frame + 1);
	return 0;
}
