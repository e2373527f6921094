/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For guests that read the hart's own OF bits, of counters that they may read directly
 * (vpmu_policy.shows_flags).
 */
#ifndef VPMU_SHOWN_H
#define VPMU_SHOWN_H

#include "vpmu/state.h"

/*
 * The first half of vpmu_show_flags(): closes counters, and opens those that need not be closed any
 * more. flags: OF of all counters of the hart. ones: the guest's counters whose OF must be 1.
 * Returns whether a configured counter is closed because of its OF bit in the hart, or will be when
 * it starts, because its hctr cannot be armed.
 */
static inline bool vpmu_close_flags(struct vpmu *v, uint64_t flags, uint64_t ones)
{
	uint64_t configured = v->configured, polled = v->polled;
	/* An armed counter that has just wrapped need not be closed: its OF becomes 1 for the guest
	 * before its next instruction. A polled counter always has OF = 1 in the hart. */
	uint64_t closed = flags & ~ones & (~v->armed | polled);

	v->openable = ~closed;
	vpmu_set_direct(v, v->in_step & configured & ~closed);
	return (configured & (closed | (polled & ~HCTRS_FIXED))) != 0;
}

/* Does the work of vpmu_show_flags() if no counter of the guest has OF = 1, and returns true.
 * *closed is then the result of vpmu_close_flags(). Otherwise returns false. */
static inline bool vpmu_show_flags_if_clear(struct vpmu *v, uint64_t flags, bool *closed)
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
 * by vpmu_handle_failed(). Setting one OF bit takes some 3,000 instructions, including the
 * firmware's, so a call sets one at most, and none unless `may_set` is true. Returns whether the
 * guest may continue; *closed is then the result of vpmu_close_flags(). If it returns false, it
 * must be called again.
 */
bool vpmu_show_flags(struct vpmu *v, bool may_set, bool *closed);

/* Whether OF bits have to be set in the hart. */
bool vpmu_has_missing_flags(const struct vpmu *v);

#endif
