/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a logical counter: SBI 3.0 sections 11.9 and 11.10. Configuring is in config.c.
 *
 *                      config_matching                start
 *     UNCONFIGURED ----------------------> STOPPED -----------> RUNNING
 *       ^  ^  ^                            |  ^  ^               |  |  |
 *       |  |  +------- stop, RESET --------+  |  +---- stop -----+  |  |
 *       |  +------------------------- stop, RESET ------------------+  |
 *       |                                     |                        |
 *       |                      config_matching|   the hart refuses it: |
 *       |                                     |   start, restore, or a |
 *       |                                     |   sharer's start/stop  |
 *       +----------- stop, RESET ------------ LOST <-------------------+
 *                                              |  ^
 *                                              +--+ start refused (granted: RUNNING)
 *
 * UNCONFIGURED  in none of configured, running, lost; no hctr; OF clear; its CSR is illegal.
 *               The value is kept: it is what the next start without a value goes on from.
 * STOPPED       configured; has an hctr, and keeps it, together with event, filter, value and OF.
 * RUNNING       configured and running; its hctr is active while the vcpu is resident.
 * LOST          configured and lost; its CSR is illegal: it may have missed events, and a wrong
 *               number is worse than none. A plain stop finds it stopped and leaves it LOST.
 *
 * Hardware counters start only where a hart can start them; firmware counters are never LOST.
 * config_matching with AUTO_START is config_matching and start in one; see config.c for what it
 * does to a counter that is STOPPED or RUNNING already.
 */
#include "vpmu/internal.h"

void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy)
{
	*v = (struct vpmu){.policy = *policy};
	v->value_mask = policy->width >= 64 ? UINT64_MAX : bit64(policy->width) - 1;
}

void vpmu_reset(struct vpmu *v)
{
	/* By value: it is about to be overwritten. */
	struct vpmu_policy policy = v->policy;

	if (v->active != 0) {
		(void)vpmu_port_take_overflow(v->armed);
		vpmu_port_stop(v->active);
		vpmu_drop_pending(v);
	}
	if (v->direct != 0)
		vpmu_port_set_direct(0);
	if (v->fw_watched != 0)
		vpmu_port_fw_watch(0);
	vpmu_init(v, &policy);
}

void vpmu_forget(struct vpmu *v, lctr_t lctr)
{
	uint64_t bit = bit64(lctr.idx);

	if ((v->configured & bit & vpmu_hw_lctrs(v)) != 0)
		v->users[v->counter[lctr.idx].hctr] &= ~(uint32_t)bit;
	v->configured &= ~bit;
	v->lost &= ~bit;
	v->overflow &= ~bit;
	v->cycles &= ~bit;
	v->insns &= ~bit;
}

uint64_t vpmu_join(struct vpmu *v, lctr_t lctr)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	uint64_t bit = bit64(lctr.idx);
	uint64_t hctr_bit = 0;

	if ((vpmu_fw_lctrs(v) & bit) != 0) {
		c->value -= vpmu_fw_total(v, lctr);
	} else {
		hctr_bit = bit64(c->hctr);
		if ((v->active & hctr_bit) != 0)
			vpmu_hctr_sync(v, (hctr_t){c->hctr});
		else if ((v->users[c->hctr] & v->running) == 0)
			/* The first one: the hardware counts in the guest's own numbers. */
			v->count[c->hctr] = c->value;
		if (vpmu_near(v, c->value))
			v->near |= bit;
		c->value = (c->value - v->count[c->hctr]) & v->value_mask;
		/* From here on the value leaves what the hctr of this index may hold of it. */
		v->held &= ~bit;
	}
	v->running |= bit;
	v->lost &= ~bit;
	v->overflow &= ~bit;
	return hctr_bit;
}

uint64_t vpmu_leave(struct vpmu *v, lctr_t lctr)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	uint64_t bit = bit64(lctr.idx);
	uint64_t hctr_bit = 0;

	if ((vpmu_fw_lctrs(v) & bit) != 0) {
		c->value += vpmu_fw_total(v, lctr);
	} else {
		hctr_bit = bit64(c->hctr);
		vpmu_hctr_sync(v, (hctr_t){c->hctr});
		c->value = (v->count[c->hctr] + c->value) & v->value_mask;
	}
	v->running &= ~bit;
	v->near &= ~bit;
	return hctr_bit;
}

/* Where a counter that is started takes its value from. */
struct start_value {
	enum { VALUE_KEPT, VALUE_GIVEN, VALUE_IN_SNAPSHOT } from;
	uint64_t given;
	uint32_t base; /* VALUE_IN_SNAPSHOT: the counter of slot 0 */
};

static void set_value(struct vpmu *v, lctr_t lctr, const struct start_value *start)
{
	uint64_t value = start->given;

	if (start->from == VALUE_KEPT)
		return;
	if (start->from == VALUE_IN_SNAPSHOT)
		value = vpmu_snapshot_value(v, lctr.idx - start->base);
	if ((vpmu_hw_lctrs(v) & bit64(lctr.idx)) != 0)
		value &= v->value_mask;
	v->counter[lctr.idx].value = value;
}

static void start_set(struct vpmu *v, uint64_t set, const struct start_value *start)
{
	uint64_t hctrs = 0;
	uint32_t i;

	if ((set & vpmu_hw_lctrs(v)) != 0)
		hctrs = vpmu_take_overflows(v);
	for_each_bit (i, set) {
		set_value(v, (lctr_t){i}, start);
		hctrs |= vpmu_join(v, (lctr_t){i});
	}
	vpmu_apply(v, hctrs);
}

struct vpmu_ret vpmu_counter_start(struct vpmu *v, unsigned long counter_idx_base,
                                   unsigned long counter_idx_mask, unsigned long start_flags,
                                   uint64_t initial_value)
{
	bool given = (start_flags & SBI_PMU_START_SET_INIT_VALUE) != 0;
	bool from_snapshot = (start_flags & SBI_PMU_START_FLAG_INIT_SNAPSHOT) != 0;
	struct start_value start = {
	    .from = given           ? VALUE_GIVEN
	            : from_snapshot ? VALUE_IN_SNAPSHOT
	                            : VALUE_KEPT,
	    .given = initial_value,
	    .base = (uint32_t)counter_idx_base,
	};
	uint64_t set;
	uint64_t already;

	if (!vpmu_counter_set(v, counter_idx_base, counter_idx_mask, &set) ||
	    (set & ~v->configured) != 0 || (start_flags & ~SBI_PMU_START_FLAG_ALL) != 0 ||
	    (given && from_snapshot))
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (from_snapshot && !v->snapshot_set)
		return vpmu_result(SBI_ERR_NO_SHMEM, 0);

	already = set & v->running;
	set &= ~already;
	if (set != 0)
		start_set(v, set, &start);

	/* Not in table 40, but a success here would be a counter that stands still unnoticed. */
	if ((set & v->lost) != 0)
		return vpmu_result(SBI_ERR_FAILED, 0);
	return vpmu_result(already != 0 ? SBI_ERR_ALREADY_STARTED : SBI_SUCCESS, 0);
}

struct vpmu_ret vpmu_counter_stop(struct vpmu *v, unsigned long counter_idx_base,
                                  unsigned long counter_idx_mask, unsigned long stop_flags)
{
	bool take = (stop_flags & SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT) != 0;
	uint64_t hctrs = 0;
	uint64_t running;
	uint64_t set;
	uint32_t i;

	if (!vpmu_counter_set(v, counter_idx_base, counter_idx_mask, &set) ||
	    (stop_flags & ~SBI_PMU_STOP_FLAG_ALL) != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (take && !v->snapshot_set)
		return vpmu_result(SBI_ERR_NO_SHMEM, 0);

	running = set & v->running;
	/* An overflow that pends belongs to a counter as it was before this call. */
	if ((running & vpmu_hw_lctrs(v)) != 0 || (take && v->armed != 0))
		hctrs = vpmu_take_overflows(v);
	for_each_bit (i, running)
		hctrs |= vpmu_leave(v, (lctr_t){i});
	/* Values and OF as RESET finds them. */
	if (take)
		vpmu_snapshot_take(v, set, counter_idx_base);
	if ((stop_flags & SBI_PMU_STOP_FLAG_RESET) != 0)
		for_each_bit (i, set)
			vpmu_forget(v, (lctr_t){i});
	vpmu_apply(v, hctrs);

	return vpmu_result(running != set ? SBI_ERR_ALREADY_STOPPED : SBI_SUCCESS, 0);
}
