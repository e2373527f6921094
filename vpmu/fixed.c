/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed counters, cycle and instret: the second place of their event, for a second filter.
 *
 * They are lent by HS (see vpmu_port_fixed_take()), so one is this vcpu's exactly as long as it is
 * active: owned when it starts, not owned when it stops, whatever stops it. And no LCOFI comes of
 * them, nor, where the policy says so, of counters of cache events: they are silent. For one that
 * runs near its wrap a look is asked for when that can have come at the earliest, and again, until
 * it has come: what is found then is as if the hart had told it, but for the delay.
 *
 * A vcpu that has a counter on a fixed one is careful, until some stop finds that it has none; and
 * one with a near counter on another silent one.
 */
#include "vpmu/hctr.h"

#define NEVER UINT64_MAX

/*
 * How many counts the first near one of an hctr is from its wrap, by the count last looked at. No
 * more than half a round: a look that is late must still see that it wrapped.
 */
static uint64_t counts_left(const struct vpmu *v, hctr_t hctr)
{
	const struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t least = NEVER;
	uint32_t i;

	for_each_bit (i, h->users & v->near) {
		uint64_t left = v->value_mask - ((h->count + v->counter[i].offset) & v->value_mask);

		if (left > v->value_mask / 2)
			left = v->value_mask / 2;
		if (left < least)
			least = left;
	}
	return least == NEVER ? NEVER : least + 1;
}

/* Looks at those that run, and asks for the next look at them and at those that are about to. */
static void look(struct vpmu *v)
{
	/* A fixed one that is not owned has been given back. */
	uint64_t ours = v->silent & (v->owned | ~HCTRS_FIXED);
	uint64_t least = NEVER;
	uint32_t i;

	for_each_bit (i, ours & v->active)
		vpmu_hctr_sync(v, (hctr_t){i});
	for_each_bit (i, ours) {
		uint64_t left = counts_left(v, (hctr_t){i});

		if (left < least)
			least = left;
	}
	if (least != NEVER || v->looks)
		vpmu_port_look_after(least);
	v->looks = least != NEVER;
}

void vpmu_fixed_release(struct vpmu *v, uint64_t hctrs)
{
	uint64_t fixed = hctrs & HCTRS_FIXED;

	if (fixed == 0)
		return;
	v->active &= ~fixed;
	v->owned &= ~fixed;
	v->shown &= ~fixed;
	vpmu_port_fixed_release(fixed);
	look(v);
}

/* Does a near counter run, or is about to, on a programmable hctr that is silent? */
static bool has_silent_near(const struct vpmu *v)
{
	uint32_t i;

	for_each_bit (i, v->silent & ~HCTRS_FIXED)
		if ((v->hctr[i].users & v->near) != 0)
			return true;
	return false;
}

void vpmu_careful_stopped(struct vpmu *v, uint64_t hctrs)
{
	if (v->policy.count_hs)
		v->shown &= ~(hctrs & ~v->running);
	vpmu_fixed_release(v, hctrs);
	v->careful = v->policy.count_hs || vpmu_is_used(v, (hctr_t){0}) ||
	             vpmu_is_used(v, (hctr_t){2}) || has_silent_near(v);
}

uint64_t vpmu_careful_starts(struct vpmu *v, uint64_t hctrs)
{
	uint64_t fixed = hctrs & HCTRS_FIXED;
	uint32_t i;

	for_each_bit (i, fixed) {
		uint64_t bit = bit64(i);

		vpmu_port_fixed_take((hctr_t){i}, &v->event[i], v->hctr[i].count);
		v->owned |= bit;
		if ((v->hctr[i].users & v->running & bit) != 0 && v->counter[i].offset == 0)
			v->shown |= bit;
	}
	if ((hctrs & v->silent) != 0)
		look(v);
	return v->policy.count_hs ? vpmu_take_overflows(v) : 0;
}

void vpmu_end_looks(struct vpmu *v)
{
	v->looks = false;
	vpmu_port_look_after(NEVER);
}

void vpmu_look_again(struct vpmu *v)
{
	if (has_silent_near(v)) {
		look(v);
		vpmu_raise_due(v);
	}
}

void vpmu_look_sooner(struct vpmu *v)
{
	look(v);
	vpmu_raise_due(v);
}

void vpmu_look(struct vpmu *v)
{
	v->looks = false;
	look(v);
	vpmu_raise_due(v);
}

bool vpmu_hs_clock_wanted(const struct vpmu *v)
{
	uint32_t i;

	for_each_bit (i, v->configured & v->fw_lctrs)
		if (vpmu_is_by_hs_clock(v->counter[i].event_idx))
			return true;
	return false;
}
