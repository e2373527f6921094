/* SPDX-License-Identifier: Apache-2.0 */
/* When a guest had its hart taken from it, and has it again. */
#include "guests/bare/bare.h"

#define AWAY 30U /* ticks: more than a round of the loop, and than an exit of its own */

uint64_t back_after(uint64_t *last, uint64_t away)
{
	for (;;) {
		uint64_t now = csr_read(time);

		if (now - *last > away)
			return now;
		*last = now;
	}
}

uint64_t back_at(uint64_t *last)
{
	return back_after(last, AWAY);
}
