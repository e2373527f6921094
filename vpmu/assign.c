/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which counter takes an event, and which hardware counter backs it.
 *
 * An hctr counts one event under one filter for one vcpu, for as long as a counter of that vcpu
 * is configured on it, running or not: a stopped counter must be able to start again. So what
 * is refused here is refused by the guest's own doing, and never by a neighbour's.
 */
#include "vpmu/internal.h"

#define NO_HCTR      VPMU_HW_COUNTERS
#define LCTR_CYCLE   0
#define LCTR_INSTRET 2

/*
 * The hctr for an event, as if the counters in dropped were not configured: one that holds the
 * event already, else a free one, of preferred if there is one (the counter of the same index
 * is then direct). NO_HCTR: all that could count it are taken. As if there were no observers.
 */
static hctr_t find_hctr(const struct vpmu *v, const struct hw_event *event, uint64_t allowed,
                        uint64_t dropped, uint64_t preferred)
{
	uint64_t free = 0;
	uint32_t i;

	for_each_bit (i, allowed) {
		hctr_t hctr = {i};

		if ((v->hctr[i].users & ~(dropped | VPMU_NOT_THE_GUESTS)) == 0)
			free |= bit64(i);
		else if (hw_event_equal(&v->event[i], event))
			return hctr;
	}
	if ((free & preferred) != 0)
		free &= preferred;
	return (hctr_t){free != 0 ? lowest_bit(free) : NO_HCTR};
}

/*
 * The counter of the hctr's own index is direct. Failing that, the highest: low indices are the
 * home of some event, and left to it.
 */
static bool assign_unconfigured(const struct vpmu *v, uint64_t unconfigured, uint64_t allowed,
                                const struct hw_event *event, struct vpmu_place *place)
{
	place->hctr = find_hctr(v, event, allowed, 0, unconfigured);
	if (place->hctr.idx == NO_HCTR)
		return false;
	if ((unconfigured & bit64(place->hctr.idx)) != 0)
		place->lctr.idx = place->hctr.idx;
	else
		place->lctr.idx = highest_bit(unconfigured);
	return true;
}

/* What the chosen counter counted before is dropped, which may be what frees the hctr. */
static bool assign_stopped(const struct vpmu *v, uint64_t stopped, uint64_t allowed,
                           const struct hw_event *event, struct vpmu_place *place)
{
	uint32_t i;

	for_each_bit (i, stopped) {
		place->lctr.idx = i;
		place->hctr = find_hctr(v, event, allowed, bit64(i), bit64(i));
		if (place->hctr.idx != NO_HCTR)
			return true;
	}
	return false;
}

/*
 * Counter 0 is read as cycle and counter 2 as instret: that is what they count, or nothing. Behind
 * them is a programmable counter like any other.
 */
static uint64_t takers(const struct hw_event *event)
{
	uint64_t takers = ~(bit64(LCTR_CYCLE) | bit64(LCTR_INSTRET));

	if (event->event_idx == SBI_PMU_HW_CPU_CYCLES)
		takers |= bit64(LCTR_CYCLE);
	if (event->event_idx == SBI_PMU_HW_INSTRUCTIONS)
		takers |= bit64(LCTR_INSTRET);
	return takers;
}

static bool assign_among(const struct vpmu *v, uint64_t set, const struct hw_event *event,
                         uint64_t hctrs, struct vpmu_place *place)
{
	if ((set & ~v->configured) != 0)
		return assign_unconfigured(v, set & ~v->configured, hctrs, event, place);
	return assign_stopped(v, set & ~v->running, hctrs, event, place);
}

/*
 * The fixed counter is for what has no other place: it tells nobody when it wraps. Instret is HS's
 * clock, and cannot be had by a vcpu that counts by this clock.
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

/* Any number of firmware counters may count one event: the first that is free will do. */
static bool assign_fw(const struct vpmu *v, uint64_t set, const struct hw_event *event,
                      struct vpmu_place *place)
{
	uint64_t usable = set & ~v->configured;

	if (vpmu_is_used(v, (hctr_t){LCTR_INSTRET}) && vpmu_is_by_hs_clock(event->event_idx))
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
		return assign_fw(v, set & vpmu_fw_lctrs(v), event, place);
	return assign_hw(v, set & vpmu_hw_lctrs(v) & takers(event), event, hctrs, place) &&
	       (!v->policy.hart_flags || place->lctr.idx == place->hctr.idx);
}
