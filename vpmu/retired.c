/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that the guest executed and the hart did not count.
 *
 * An instruction that traps does not retire: where Tally does its work, a guest on a hart of its
 * own would have counted one more. Since all running counters of an hctr count the same, one more
 * in the hardware is one more for each of them, and no offset changes. Where that is dear, or the
 * hardware would wrap by it, the hctr goes ahead of the hardware instead. An armed one would then
 * wrap one too late, so it is set at once; another is set only where that is cheap, since all that
 * it loses by it is that it is read directly.
 */
#include "vpmu/hctr.h"

/* Not inlined: to go ahead then needs few registers. */
static __attribute__((noinline)) void move(struct vpmu *v, uint64_t hctrs)
{
	uint64_t moves = hctrs & (v->armed | (v->policy.cheap_moves ? v->shown : 0));
	uint64_t taken = 0;
	uint32_t i;

	/* None stays ahead where reads do not look at that. */
	if (v->policy.steps)
		moves = hctrs;
	if (moves != 0)
		taken = vpmu_take_overflows(v);
	for_each_bit (i, hctrs) {
		/* One that nothing arms may have wrapped unseen. */
		if ((moves >> i & 1) != 0 || (v->hctr[i].users & v->near) != 0)
			vpmu_hctr_sync(v, (hctr_t){i});
		vpmu_hctr_step(v, (hctr_t){i});
	}
	vpmu_apply(v, moves | taken, 0, 0);
	/* The next look is as much nearer. */
	if (v->looks && (hctrs & v->silent) != 0)
		vpmu_look_sooner(v);
}

void vpmu_retired_dear(struct vpmu *v, uint64_t hctrs)
{
	uint32_t i;

	if (v->near != 0 || v->policy.cheap_moves) {
		move(v, hctrs);
		return;
	}
	for_each_bit (i, hctrs)
		v->hctr[i].ahead++;
	/* Those that were in step are so no more. */
	v->shown &= ~hctrs;
	vpmu_update_direct(v);
}

uint64_t vpmu_retired_read(struct vpmu *v, uint64_t n, uint64_t reader, uint64_t *value)
{
	struct vpmu_counter *c = &v->counter[n];
	uint64_t counts = vpmu_vs_retires(v);
	uint64_t others = counts & ~bit64(c->hctr);
	uint64_t left;

	if (others != counts && (others & (others - 1)) == 0) {
		c->beside = others != 0 ? (uint8_t)lowest_bit(others) : c->hctr;
		c->read_counts = (uint32_t)counts;
		c->reader = (uint32_t)reader;
		return vpmu_retired_noted(v, n, counts, value);
	}
	left = vpmu_step(v, counts);
	*value = vpmu_running_value(v, n);
	return left;
}

uint64_t vpmu_retired_scountovf(struct vpmu *v, uint64_t reader)
{
	uint64_t counts = vpmu_vs_retires(v);
	uint64_t others = counts & (counts - 1);

	if (counts != 0 && (others & (others - 1)) == 0) {
		v->ovf_hctr = (uint8_t)lowest_bit(counts);
		v->ovf_beside = others != 0 ? (uint8_t)lowest_bit(others) : v->ovf_hctr;
		v->ovf_counts = (uint32_t)counts;
		v->ovf_reader = (uint32_t)reader;
	}
	return vpmu_step(v, counts);
}
