/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping counters, and RESET: SBI 3.0 section 11.10. The short way at the end of this file serves
 * solo counters, the long one all others.
 */
#include "vpmu/hctr.h"

/* A running hardware counter stops at its value, as far as it knows. */
static void leave(struct vpmu *v, lctr_t lctr)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];

	vpmu_hctr_sync(v, (hctr_t){c->hctr});
	c->value = (v->hctr[c->hctr].count + c->offset) & v->value_mask;
	v->near &= ~bit64(lctr.idx);
}

/* Running counters stop; TAKE_SNAPSHOT of the set, which they are part of, if take. */
static void stop_set(struct vpmu *v, uint64_t running, uint64_t set, unsigned long base, bool take)
{
	uint64_t hctrs = 0;
	uint64_t stops = 0;
	uint32_t i;

	/* An overflow that pends belongs to a counter as it was before this call. */
	if ((running & vpmu_hw_lctrs(v)) != 0 || take)
		hctrs = vpmu_take_overflows(v);
	for_each_bit (i, running) {
		lctr_t lctr = {i};

		if (vpmu_is_fw(v, lctr)) {
			v->counter[i].value = vpmu_fw_total(v, lctr) + v->counter[i].offset;
		} else {
			leave(v, lctr);
			*(vpmu_is_alone(v, lctr) ? &stops : &hctrs) |= bit64(v->counter[i].hctr);
		}
	}
	v->running &= ~running;
	for_each_bit (i, stops)
		vpmu_note_solo(v, (hctr_t){i});
	if ((running & v->fw_lctrs) != 0)
		vpmu_fw_update_watch(v);
	/* Values and OF as RESET finds them. */
	if (take)
		vpmu_snapshot_take(v, set, base);
	vpmu_apply(v, hctrs, stops, 0);
}

static __attribute__((noinline)) long stop_any(struct vpmu *v, unsigned long base,
                                               unsigned long mask, unsigned long flags)
{
	bool take = (flags & SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT) != 0;
	uint64_t running;
	uint64_t set;

	if (!vpmu_counter_set(v, base, mask, &set) || (flags & ~SBI_PMU_STOP_FLAG_ALL) != 0)
		return SBI_ERR_INVALID_PARAM;
	if (take && !v->snapshot_set)
		return SBI_ERR_NO_SHMEM;

	running = set & v->running;
	if (running != 0 || take)
		stop_set(v, running, set, base, take);
	if ((flags & SBI_PMU_STOP_FLAG_RESET) != 0) {
		vpmu_forget(v, set);
		vpmu_update_direct(v);
	}
	return running != set ? SBI_ERR_ALREADY_STOPPED : SBI_SUCCESS;
}

/* RESET of solo counters that do not run. What their hctrs hold stays there. */
static __attribute__((noinline)) struct sbi_ret forget_solo(struct vpmu *v, uint64_t set,
                                                            long error)
{
	uint32_t i;

	v->configured &= ~set;
	v->solo &= ~set;
	v->overflow &= ~set;
	for_each_bit (i, set)
		v->hctr[i].users = 0;
	vpmu_update_direct(v);
	return vpmu_result(error, 0);
}

struct sbi_ret vpmu_counter_stop(struct vpmu *v, unsigned long counter_idx_base,
                                 unsigned long counter_idx_mask, unsigned long stop_flags)
{
	uint64_t set = vpmu_named_among(v->solo, counter_idx_base, counter_idx_mask);
	uint32_t i;

	/* In fewer instructions, where nothing need be asked: see solo in struct vpmu. */
	if ((stop_flags & ~SBI_PMU_STOP_FLAG_RESET) == 0 && set != 0 &&
	    (set & (~v->running | v->near)) == 0 && vpmu_port_is_quiet()) {
		for_each_bit (i, set) {
			v->counter[i].value = vpmu_count(v, (hctr_t){i});
			v->hctr[i].ahead = 0;
		}
		v->running &= ~set;
		v->active &= ~set;
		vpmu_port_stop(set);
		if (stop_flags != 0)
			return forget_solo(v, set, SBI_SUCCESS);
		return vpmu_result(SBI_SUCCESS, 0);
	}
	if (stop_flags == SBI_PMU_STOP_FLAG_RESET && set != 0 && (set & v->running) == 0)
		return forget_solo(v, set, SBI_ERR_ALREADY_STOPPED);
	return vpmu_result(stop_any(v, counter_idx_base, counter_idx_mask, stop_flags), 0);
}
