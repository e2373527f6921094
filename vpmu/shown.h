/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that reads the hart's OF bits: those of the counters that it may read directly
 * (vpmu_policy.shows_flags).
 */
#ifndef VPMU_SHOWN_H
#define VPMU_SHOWN_H

#include "vpmu/state.h"

/*
 * Does the first half of vpmu_show_flags(): closes, and opens what it had closed. flags: OF of all
 * counters of the hart; ones: those counters of the guest whose OF it sees. Returns whether a
 * configured counter is closed because of its OF bit in the hart, also if its value is not there,
 * or will be when it starts, since the hart cannot arm it.
 */
static inline bool vpmu_close_flags(struct vpmu *v, uint64_t flags, uint64_t ones)
{
	uint64_t configured = v->configured, polled = v->polled;
	/* Of an armed counter that has wrapped just now the guest hears before its next
	 * instruction. A polled one has OF = 1 all the time. */
	uint64_t closed = flags & ~ones & (~v->armed | polled);
	uint64_t direct = v->in_step & configured & ~closed;

	v->openable = ~closed;
	if (direct != v->direct) {
		v->direct = direct;
		vpmu_port_set_direct(direct);
	}
	return (configured & (closed | (polled & ~HCTRS_FIXED))) != 0;
}

/* Does all of it if no counter of the guest has OF = 1, and returns true. *closed is then what
 * vpmu_close_flags() returns. */
static inline bool vpmu_shows_none(struct vpmu *v, uint64_t flags, bool *closed)
{
	if (v->overflow != 0)
		return false;
	*closed = vpmu_close_flags(v, flags, 0);
	return true;
}

/*
 * Makes the guest see its own OF bits and no others. Closes counters whose OF is 1 in the hart and
 * 0 in the guest. If OF is 1 in the guest, makes it 1 in the hart as well, together with the
 * counter's value, and opens the counter. A counter that the hart refuses becomes lost, some only
 * by vpmu_failed(). Making one OF takes some 3,000 instructions, including the firmware's, so a
 * call makes one at most, and none unless `make`. Returns whether the guest may go on; *closed is
 * then the result of vpmu_close_flags(). If false is returned, call it again.
 */
bool vpmu_show_flags(struct vpmu *v, bool make, bool *closed);

/* Whether some have to be made. */
bool vpmu_misses_flags(const struct vpmu *v);

#endif
