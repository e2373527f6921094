/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the counter for an event, and the hardware counter behind it.
 *
 * An hctr counts one event with one filter for a vcpu as long as a counter of that vcpu is
 * configured on it, running or not, because a stopped counter must be able to start again. So a
 * request is refused only because of this guest's own configured counters, never because of another
 * guest.
 */
#include "vpmu/internal.h"

#define NO_HCTR VPMU_HW_COUNTERS

/*
 * Returns the hctr for an event, as if the counters in `dropped` were not configured: one that
 * holds the event already, otherwise a free one, if possible in `preferred` (a counter with the
 * same index can then be read directly). Returns NO_HCTR if all hctrs that can count the event are
 * in use. Observers are ignored. A counter whose OF the guest sees shares with no other.
 */
static hctr_t find_hctr(const struct vpmu *v, const struct hw_event *event, uint64_t allowed,
                        uint64_t dropped, uint64_t preferred)
{
	uint64_t free = 0;
	uint32_t i;

	for_each_bit (i, allowed) {
		hctr_t hctr = {i};

		if ((v->hctr[i].users & ~(dropped | VPMU_HOST_USERS)) == 0)
			free |= bit64(i);
		else if (hw_event_equal(&v->event[i], event) &&
		         (vpmu_shown_hctrs(v) & bit64(i)) == 0)
			return hctr;
	}
	if ((free & preferred) != 0)
		free &= preferred;
	return (hctr_t){free != 0 ? lowest_bit(free) : NO_HCTR};
}

static bool assign_among(const struct vpmu *v, uint64_t set, const struct hw_event *event,
                         uint64_t allowed, struct vpmu_place *place)
{
	uint64_t unconfigured = set & ~v->configured;
	uint32_t i;

	/* The counter with the hctr's own index, because it can be read directly; otherwise the
	 * highest, because low indices are home counters of events. */
	if (unconfigured != 0) {
		place->hctr = find_hctr(v, event, allowed, 0, unconfigured);
		place->lctr.idx = (unconfigured & bit64(place->hctr.idx)) != 0
		                      ? place->hctr.idx
		                      : highest_bit(unconfigured);
		return place->hctr.idx != NO_HCTR;
	}
	/* The configuration of the chosen counter is dropped, which may free the hctr. */
	for_each_bit (i, set & ~v->running) {
		place->lctr.idx = i;
		place->hctr = find_hctr(v, event, allowed, bit64(i), bit64(i));
		if (place->hctr.idx != NO_HCTR)
			return true;
	}
	return false;
}

/*
 * Counter 0 is read as cycle and counter 2 as instret, so they count these events only. Behind them
 * is a programmable counter, as behind the others. If the core's event table is known, each counter
 * of the guest can count only the events that the hart's counter of the same number can count: a
 * guest that knows its core does not ask for others.
 */
uint64_t vpmu_takers(const struct vpmu *v, uint64_t set, const struct hw_event *event)
{
	uint64_t takers = ~HCTRS_FIXED;

	if (event->event_idx == SBI_PMU_HW_CPU_CYCLES)
		takers |= HCTRS_CYCLE;
	if (event->event_idx == SBI_PMU_HW_INSTRUCTIONS)
		takers |= HCTRS_INSTRET;
	return set & v->policy.hctrs & takers &
	       vpmu_table_hctrs(&v->policy, event->event_idx, event->event_data);
}

/*
 * A fixed counter is used only if there is no other, because it cannot interrupt. HS measures its
 * work with instret, so a vcpu that counts this work cannot have instret.
 */
static bool assign_hw(const struct vpmu *v, uint64_t set, const struct hw_event *event,
                      uint64_t hctrs, struct vpmu_place *place)
{
	if (assign_among(v, set, event, hctrs & ~HCTRS_FIXED, place))
		return true;
	hctrs &= HCTRS_FIXED;
	if ((hctrs & HCTRS_INSTRET) != 0 && vpmu_hs_clock_wanted(v))
		hctrs = 0;
	return hctrs != 0 && assign_among(v, set, event, hctrs, place);
}

/* Several firmware counters may count one event, so the first free one is chosen. */
static bool assign_fw(const struct vpmu *v, uint64_t set, const struct hw_event *event,
                      struct vpmu_place *place)
{
	uint64_t usable = set & ~v->configured;

	if (vpmu_is_used(v, (hctr_t){HCTR_INSTRET}) &&
	    tally_event_is_by_hs_clock(SBI_PMU_EVENT_CODE(event->event_idx)))
		return false;

	if (usable == 0)
		usable = set & ~v->running;
	if (usable == 0)
		return false;
	place->lctr.idx = lowest_bit(usable);
	place->hctr.idx = NO_HCTR;
	return true;
}

bool vpmu_assign(const struct vpmu *v, uint64_t set, const struct hw_event *event, uint64_t hctrs,
                 struct vpmu_place *place)
{
	if (vpmu_event_is_fw(event))
		return assign_fw(v, set & v->fw_lctrs, event, place);
	return assign_hw(v, vpmu_takers(v, set, event), event, hctrs, place) &&
	       (!v->policy.hart_flags || place->lctr.idx == place->hctr.idx);
}
