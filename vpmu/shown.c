/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OF bits for a guest that reads the hart's own scountovf, on harts where that read cannot be made
 * to trap. A counter is open if its bit in hcounteren is set, so that the guest can read it
 * directly. The hart shows OF of open counters, and 0 for all others. So a counter whose OF is 1
 * for the guest must be open, and the hart must have its value and OF = 1. A counter whose OF is 0
 * for the guest must be closed, or the hart must have OF = 0.
 *
 * OF of a counter can be shown only if the hctr of its index holds its value, so it must be the
 * only user of that hctr: it is solo. Only a solo counter may start near its wrap, and while it is
 * near its wrap, or its OF is 1, its hctr gets no second user. The rest of vpmu/ closes counters by
 * `in_step`, as on other harts, and opens only those in `openable`.
 *
 * A counter that runs far from its wrap has OF = 0 in the hart as well. Otherwise it would have to
 * be closed, and each read would cause an exit. If its event must not be counted with OF = 0
 * (quirk_may_arm()), the counter is closed until its OF is 1 for the guest.
 */
#include "vpmu/shown.h"

#include "vpmu/hctr.h"

uint64_t vpmu_not_showable(struct vpmu *v, uint64_t set)
{
	uint64_t others = 0;
	uint32_t i;

	for_each_bit (i, set & VPMU_SHOWABLE & v->policy.hctrs) {
		hctr_t hctr = {v->counter[i].hctr};
		uint64_t users = v->hctr[hctr.idx].users;

		if (hctr.idx != i || (users & ~(bit64(i) | VPMU_OBSERVER_LCTRS)) != 0) {
			others |= bit64(i);
		} else if (users != bit64(i)) {
			uint64_t flagged = vpmu_take_overflows(v);

			vpmu_apply(v, flagged, vpmu_end_observers(v, hctr), 0);
		}
	}
	return others;
}

void vpmu_stop_showing(struct vpmu *v, hctr_t hctr)
{
	if (!v->policy.shows_flags)
		return;
	v->lost |= v->overflow & VPMU_SHOWABLE & ~v->running & bit64(hctr.idx);
	vpmu_note_solo(v, hctr);
}

/* Sets OF of the hctr to 1, and its value to that of the guest's counter, which is solo. */
static void set_flag(struct vpmu *v, hctr_t hctr)
{
	uint64_t bit = bit64(hctr.idx);

	if ((v->active & bit) != 0) {
		vpmu_hctr_sync(v, hctr);
		vpmu_stop(v, bit);
	} else {
		v->hctr[hctr.idx].count = v->counter[hctr.idx].value;
	}
	if (vpmu_set(v, hctr, 0) == 0) {
		vpmu_stop_showing(v, hctr);
		return;
	}
	v->in_step |= bit;
	vpmu_run(v, bit);
	if ((v->running & bit) == 0)
		vpmu_stop(v, bit);
}

/* Returns the counters whose OF the guest must see. */
static uint64_t set_flags(const struct vpmu *v)
{
	return v->overflow & VPMU_SHOWABLE & v->policy.hctrs & ~v->lost;
}

/* Returns the members of set_flags() whose OF or value the hart does not have. flags: OF of all
 * counters of the hart. */
static uint64_t missing_of(const struct vpmu *v, uint64_t flags)
{
	return set_flags(v) & ~(flags & v->in_step);
}

bool vpmu_has_missing_flags(const struct vpmu *v)
{
	return set_flags(v) != 0 && missing_of(v, vpmu_port_flags()) != 0;
}

/* Sets the lowest missing OF bit. Afterwards the bit is shown, or the counter is lost. */
static void set_one_flag(struct vpmu *v, uint64_t missing)
{
	uint64_t bit = missing & -missing;

	set_flag(v, (hctr_t){lowest_bit(bit)});
	if ((missing_of(v, vpmu_port_flags()) & bit) == 0)
		return;
	if ((v->active & bit) != 0)
		vpmu_port_stop(bit);
	vpmu_handle_failed(v, bit);
}

bool vpmu_show_flags(struct vpmu *v, bool may_set, bool *closed)
{
	uint64_t flags = vpmu_port_flags();
	uint64_t missing = missing_of(v, flags);

	if (missing != 0) {
		if (!may_set)
			return false;
		/* No overflow may be pending while the port works. */
		vpmu_apply(v, vpmu_take_overflows(v), 0, 0);
		missing &= set_flags(v);
		if (missing != 0)
			set_one_flag(v, missing);
		/* Another overflow may have been found. */
		flags = vpmu_port_flags();
		if (missing_of(v, flags) != 0)
			return false;
	}
	*closed = vpmu_close_flags(v, flags, set_flags(v));
	return true;
}
