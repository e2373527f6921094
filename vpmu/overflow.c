/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the hardware's OF bits to OF of logical counters and one virtual LCOFI.
 *
 * A wrap is found in two ways: by OF of an armed hctr, which stands for the counters with offset 0,
 * and by the count, which is read whenever an hctr is started, stopped, moved or saved. The count
 * also shows wraps of counters that share an hctr, and wraps whose OF comes late. Whichever is
 * first sets OF of the counter and takes it out of `near`, so that the wrap is not reported again
 * before the next start.
 *
 * A counter that starts more than 2^62 counts from its wrap is not in `near`, and is never armed.
 * With one count per nanosecond it wraps after 146 years.
 */
#include "vpmu/hctr.h"

/* Records that running counters of an hctr have wrapped. Wraps of the budget and of observers are
 * reported to the port, and not to the guest. Returns false if the hctr was not started, so that
 * none of them has counted. Not inlined, because hardly any look finds a wrap. */
static __attribute__((noinline)) bool wrapped(struct vpmu *v, hctr_t hctr, uint64_t lctrs)
{
	uint64_t observers = lctrs & VPMU_OBSERVER_LCTRS;
	uint64_t guests = lctrs & ~(observers | bit64(VPMU_BUDGET));
	uint32_t i;

	if (vpmu_port_is_unstarted(hctr))
		return false;
	v->overflow |= guests;
	v->near &= ~(lctrs & ~observers);
	if (guests != 0)
		v->lcofi_due = true;
	if ((lctrs & bit64(VPMU_BUDGET)) != 0)
		vpmu_port_budget_spent();
	/* The hardware may set OF for this wrap later. That must be ignored. */
	for_each_bit (i, lctrs)
		if (v->counter[i].offset == 0)
			v->armed &= ~bit64(hctr.idx);
	for_each_bit (i, observers)
		vpmu_begin_period(v, hctr, i);
	return true;
}

bool vpmu_find_wraps(struct vpmu *v, hctr_t hctr, uint64_t before, uint64_t lctrs)
{
	uint64_t progress = (v->hctr[hctr.idx].count - before) & v->value_mask;
	uint64_t found = 0;
	uint32_t i;

	for_each_bit (i, lctrs) {
		uint64_t value = (before + v->counter[i].offset) & v->value_mask;

		if (progress > v->value_mask - value)
			found |= bit64(i);
	}
	return found != 0 && wrapped(v, hctr, found);
}

void vpmu_hctr_step(struct vpmu *v, hctr_t hctr)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t found = 0;
	uint32_t i;

	for_each_bit (i, h->users & v->near)
		if (((h->count + v->counter[i].offset) & v->value_mask) == v->value_mask)
			found |= bit64(i);
	if (found != 0)
		(void)wrapped(v, hctr, found);
	h->ahead++;
	h->count = (h->count + 1) & v->value_mask;
	/* The hardware's value is not the value of a counter until the hctr is set again. */
	v->in_step &= ~bit64(hctr.idx);
}

void vpmu_give_overflows(struct vpmu *v, uint64_t flagged)
{
	uint32_t i;

	for_each_bit (i, flagged) {
		hctr_t hctr = {i};
		uint64_t anchors = 0;
		uint32_t k;

		vpmu_hctr_sync(v, hctr);
		for_each_bit (k, v->hctr[i].users & v->near)
			if (v->counter[k].offset == 0)
				anchors |= bit64(k);
		if (anchors != 0)
			(void)wrapped(v, hctr, anchors);
	}
}

void vpmu_drop_pending(const struct vpmu *v)
{
	if (v->policy.count_hs)
		(void)vpmu_port_take_overflow(0);
}

/* Not inlined, so that the overflow of solo counters needs no stack. */
static __attribute__((noinline)) void overflow_any(struct vpmu *v, uint64_t flagged)
{
	if ((flagged & (flagged - 1)) == 0 &&
	    vpmu_begin_period_fast(v, (hctr_t){only_bit(flagged)}))
		return;
	vpmu_give_overflows(v, flagged);
	vpmu_apply(v, flagged, 0, 0);
}

void vpmu_overflow(struct vpmu *v)
{
	uint64_t flagged = vpmu_port_take_overflow(v->armed) & v->armed;

	if ((flagged & ~v->solo) != 0) {
		overflow_any(v, flagged);
		return;
	}
	if (flagged == 0)
		return;
	/* Does the same in fewer instructions: solo counters do not share their hctrs, and continue
	 * to run. */
	v->overflow |= flagged;
	v->near &= ~flagged;
	v->armed &= ~flagged;
	vpmu_port_raise_lcofi();
}
