/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the hardware's overflow flag to OF of logical counters and one virtual LCOFI.
 *
 * A wrap is known in two ways: the flag of an armed hctr, which speaks for the counters with
 * offset 0, and the count itself, looked at whenever an hctr is started, stopped, moved or
 * saved. The second finds what the first cannot: the wrap of a counter that shares, or one
 * whose flag comes late. Whichever is first sets OF and takes the counter out of the near ones,
 * so that nothing tells the wrap again before the next start.
 *
 * A counter that starts further than 2^62 from its wrap is not near and never armed: at a count
 * a nanosecond the wrap is 146 years away.
 */
#include "vpmu/hctr.h"

/* Notes the wrap of running counters of one hctr. */
static void wrapped(struct vpmu *v, hctr_t hctr, uint64_t lctrs)
{
	uint32_t i;

	v->overflow |= lctrs;
	v->near &= ~lctrs;
	v->lcofi_due = true;
	/* The flag of this wrap, should it still come, has nothing to add. */
	for_each_bit (i, lctrs)
		if (v->counter[i].offset == 0)
			v->armed &= ~bit64(hctr.idx);
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
	if (found == 0)
		return false;
	wrapped(v, hctr, found);
	return true;
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
		wrapped(v, hctr, found);
	h->ahead++;
	h->count = (h->count + 1) & v->value_mask;
	/* What the hardware reads is no counter's value any more, until it is set. */
	v->shown &= ~bit64(hctr.idx);
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
			wrapped(v, hctr, anchors);
	}
}

void vpmu_drop_pending(const struct vpmu *v)
{
	if (v->policy.count_hs)
		(void)vpmu_port_take_overflow(0);
}

/* Not inlined: the overflow of solo counters then needs no stack. */
static __attribute__((noinline)) void overflow_any(struct vpmu *v, uint64_t flagged)
{
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
	/* The same, in fewer instructions: solo counters go on, and have nobody to share with. */
	v->overflow |= flagged;
	v->near &= ~flagged;
	v->armed &= ~flagged;
	vpmu_port_raise_lcofi();
}
