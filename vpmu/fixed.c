/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed counters, cycle and instret. Each can count its event with a second filter.
 *
 * HS lends them (see vpmu_port_fixed_take()), so a fixed counter belongs to this vcpu exactly while
 * it is active: it is in `owned` from its start to any kind of stop. Fixed counters raise no LCOFI;
 * with `polled_cache`, counters of cache events raise none either. Such counters are polled: while
 * one of them runs near its wrap, a poll is requested for the earliest time of the wrap, and again
 * until it has wrapped. The effect is that of a late overflow interrupt.
 *
 * A vcpu with a counter on a fixed hctr, or with a counter that runs near its wrap on another
 * polled hctr, takes the slow path (`needs_slow_path`), until a stop finds that it has none.
 */
#include "vpmu/hctr.h"

#define NEVER UINT64_MAX

/*
 * Returns the number of counts, from the count that was read last, until one of the hctr's counters
 * that are near their wraps wraps first. NEVER if none is near. At most half the range, because a
 * late poll must still recognize the wrap.
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

/* Polls the hctrs that run, and requests the next poll for them and for those that are about to
 * run. */
static void poll(struct vpmu *v)
{
	/* A fixed hctr that is not in `owned` was given back to HS. */
	uint64_t ours = v->polled & (v->owned | ~HCTRS_FIXED);
	uint64_t least = NEVER;
	uint32_t i;

	for_each_bit (i, ours & v->active)
		vpmu_hctr_sync(v, (hctr_t){i});
	for_each_bit (i, ours) {
		uint64_t left = counts_left(v, (hctr_t){i});

		if (left < least)
			least = left;
	}
	if (least != NEVER || v->polling)
		vpmu_port_poll_after(least);
	v->polling = least != NEVER;
}

void vpmu_fixed_release(struct vpmu *v, uint64_t hctrs)
{
	uint64_t fixed = hctrs & HCTRS_FIXED;

	if (fixed == 0)
		return;
	v->active &= ~fixed;
	v->owned &= ~fixed;
	v->in_step &= ~fixed;
	vpmu_port_fixed_release(fixed);
	poll(v);
}

/* Whether a counter near its wrap runs, or is about to run, on a polled programmable hctr. */
static bool has_polled_near(const struct vpmu *v)
{
	uint32_t i;

	for_each_bit (i, v->polled & ~HCTRS_FIXED)
		if ((v->hctr[i].users & v->near) != 0)
			return true;
	return false;
}

void vpmu_slow_path_after_stop(struct vpmu *v, uint64_t hctrs)
{
	if (v->policy.count_hs)
		v->in_step &= ~(hctrs & ~v->running);
	vpmu_fixed_release(v, hctrs);
	v->needs_slow_path = v->policy.count_hs || vpmu_is_used(v, (hctr_t){HCTR_CYCLE}) ||
	                     vpmu_is_used(v, (hctr_t){HCTR_INSTRET}) || has_polled_near(v);
}

uint64_t vpmu_slow_path_before_start(struct vpmu *v, uint64_t hctrs)
{
	uint64_t fixed = hctrs & HCTRS_FIXED;
	uint32_t i;

	for_each_bit (i, fixed) {
		uint64_t bit = bit64(i);

		vpmu_port_fixed_take((hctr_t){i}, &v->event[i], v->hctr[i].count);
		v->owned |= bit;
		if ((v->hctr[i].users & v->running & bit) != 0 && v->counter[i].offset == 0)
			v->in_step |= bit;
	}
	if ((hctrs & v->polled) != 0)
		poll(v);
	return v->policy.count_hs ? vpmu_take_overflows(v) : 0;
}

void vpmu_end_polling(struct vpmu *v)
{
	v->polling = false;
	vpmu_port_poll_after(NEVER);
}

void vpmu_poll_sooner(struct vpmu *v)
{
	poll(v);
	vpmu_raise_due(v);
}

void vpmu_resume_polling(struct vpmu *v)
{
	if (has_polled_near(v))
		vpmu_poll_sooner(v);
}

void vpmu_poll(struct vpmu *v)
{
	v->polling = false;
	vpmu_poll_sooner(v);
}

bool vpmu_hs_clock_wanted(const struct vpmu *v)
{
	uint32_t i;

	for_each_bit (i, v->configured & v->fw_lctrs)
		if (tally_event_is_by_hs_clock(SBI_PMU_EVENT_CODE(v->counter[i].event_idx)))
			return true;
	return false;
}
