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

#define NEAR (UINT64_C(1) << 62)

void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy)
{
	*v = (struct vpmu){.policy = *policy};
	v->value_mask = policy->width >= 64 ? UINT64_MAX : bit64(policy->width) - 1;
	v->near_span = policy->overflow ? NEAR : 0;
	v->fw_lctrs = (bit64(VPMU_FW_COUNTERS) - 1) << policy->fw_base;
	v->all_lctrs = v->fw_lctrs | policy->hctrs;
	v->openable = policy->trap_reads ? 0 : UINT64_MAX;
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

void vpmu_forget(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	set &= v->configured;
	v->configured &= ~set;
	v->lost &= ~set;
	v->overflow &= ~set;
	v->shown &= ~set;
	for_each_bit (i, set & vpmu_hw_lctrs(v)) {
		hctr_t hctr = {v->counter[i].hctr};

		v->hctr[hctr.idx].users &= ~(uint32_t)bit64(i);
		vpmu_note_solo(v, hctr);
	}
}

static bool is_fw(const struct vpmu *v, lctr_t lctr)
{
	return (v->fw_lctrs >> lctr.idx & 1) != 0;
}

/* Is a configured hardware counter the only one of its hctr? It is its anchor then. */
static bool is_alone(const struct vpmu *v, lctr_t lctr)
{
	return v->hctr[v->counter[lctr.idx].hctr].users == bit64(lctr.idx);
}

static inline uint64_t start_value(const struct vpmu *v, lctr_t lctr, enum vpmu_start_from from,
                                   uint64_t arg)
{
	uint64_t value = arg;

	if (from == VPMU_FROM_KEPT)
		return v->counter[lctr.idx].value;
	if (from == VPMU_FROM_SNAPSHOT)
		value = vpmu_snapshot_value(v, lctr.idx - (uint32_t)arg);
	return is_fw(v, lctr) ? value : value & v->value_mask;
}

/* Not before its hctr was synced: the sync would take its old value for an offset. */
static inline void note_near(struct vpmu *v, lctr_t lctr, uint64_t value)
{
	if (vpmu_near(v, value))
		v->near |= bit64(lctr.idx);
}

/* A running hardware counter, new among others of its hctr, gets its offset for this value. */
static void join(struct vpmu *v, lctr_t lctr, uint64_t value)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	struct vpmu_hctr *h = &v->hctr[c->hctr];

	if ((v->active >> c->hctr & 1) != 0)
		vpmu_hctr_sync(v, (hctr_t){c->hctr});
	else if ((h->users & v->running) == bit64(lctr.idx))
		h->count = value;
	note_near(v, lctr, value);
	c->offset = (value - h->count) & v->value_mask;
}

void vpmu_start_set(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg,
                    uint64_t hctrs)
{
	uint64_t ready = 0;
	uint32_t i;

	if ((set & vpmu_hw_lctrs(v)) != 0)
		hctrs |= vpmu_take_overflows(v);
	v->lost &= ~set;
	v->overflow &= ~set;
	/* From here on the value leaves what the hctr of the same index may hold of it. */
	v->shown &= ~set;
	for_each_bit (i, set) {
		struct vpmu_counter *c = &v->counter[i];
		lctr_t lctr = {i};
		uint64_t value = start_value(v, lctr, from, arg);

		v->running |= bit64(i);
		if (is_fw(v, lctr)) {
			c->offset = value - vpmu_fw_total(v, lctr);
			continue;
		}
		/* While one counts HS others may wrap until it is set: see vpmu_apply_all(). */
		if (is_alone(v, lctr) && !v->policy.count_hs) {
			/* The hardware counts in the guest's own numbers. */
			v->hctr[c->hctr].count = value;
			c->offset = 0;
			if (c->hctr == i)
				v->shown |= bit64(i);
			note_near(v, lctr, value);
			ready |= vpmu_set(v, (hctr_t){c->hctr}, bit64(i));
			vpmu_note_solo(v, (hctr_t){c->hctr});
		} else {
			join(v, lctr, value);
			hctrs |= bit64(c->hctr);
		}
	}
	if ((set & v->fw_lctrs) != 0)
		vpmu_fw_update_watch(v);
	vpmu_apply(v, hctrs, 0, ready);
}

static __attribute__((noinline)) long start_any(struct vpmu *v, unsigned long base,
                                                unsigned long mask, unsigned long flags,
                                                uint64_t initial_value)
{
	enum vpmu_start_from from = VPMU_FROM_KEPT;
	uint64_t arg = initial_value;
	uint64_t set;
	uint64_t already;

	if (!vpmu_counter_set(v, base, mask, &set) || (set & ~v->configured) != 0 ||
	    flags >= SBI_PMU_START_FLAG_ALL)
		return SBI_ERR_INVALID_PARAM;
	if (flags == SBI_PMU_START_SET_INIT_VALUE) {
		from = VPMU_FROM_GIVEN;
	} else if (flags == SBI_PMU_START_FLAG_INIT_SNAPSHOT) {
		if (!v->snapshot_set)
			return SBI_ERR_NO_SHMEM;
		from = VPMU_FROM_SNAPSHOT;
		arg = base;
	}

	already = set & v->running;
	set &= ~already;
	if (set != 0)
		vpmu_start_set(v, set, from, arg, 0);

	/* Not in table 40, but a success here would be a counter that stands still unnoticed. */
	if ((set & v->lost) != 0)
		return SBI_ERR_FAILED;
	return already != 0 ? SBI_ERR_ALREADY_STARTED : SBI_SUCCESS;
}

/* The set that a base and mask name, if all of it is in those; else 0. */
static inline uint64_t named_among(uint64_t those, unsigned long base, unsigned long mask)
{
	uint64_t set = (uint64_t)mask << base % VPMU_COUNTERS;

	return base < VPMU_COUNTERS && set >> base == mask && (set & ~those) == 0 ? set : 0;
}

/* What becomes of solo counters that start: nothing need be asked, see solo in struct vpmu. */
static inline void note_started(struct vpmu *v, uint64_t set)
{
	v->overflow &= ~set;
	v->running |= set;
	v->active |= set;
	v->shown |= set;
	vpmu_update_direct(v);
}

/* Not inlined: the usual start, which is far, then needs no stack. */
static __attribute__((noinline)) long start_near(struct vpmu *v, uint64_t set, uint64_t value)
{
	uint32_t i;

	note_started(v, set);
	v->near |= set;
	v->armed |= set;
	for_each_bit (i, set)
		v->hctr[i].count = value;
	(void)vpmu_port_set(set, value, true);
	vpmu_port_run(set);
	return SBI_SUCCESS;
}

struct sbi_ret vpmu_counter_start(struct vpmu *v, unsigned long counter_idx_base,
                                  unsigned long counter_idx_mask, unsigned long start_flags,
                                  uint64_t initial_value)
{
	uint64_t set =
	    named_among(v->solo & v->owned & ~v->running, counter_idx_base, counter_idx_mask);

	if (set == 0 || start_flags != SBI_PMU_START_SET_INIT_VALUE || !vpmu_port_is_quiet())
		return vpmu_result(
		    start_any(v, counter_idx_base, counter_idx_mask, start_flags, initial_value),
		    0);
	initial_value &= v->value_mask;
	if (vpmu_near(v, initial_value))
		return vpmu_result(start_near(v, set, initial_value), 0);
	note_started(v, set);
	vpmu_port_start(set, initial_value);
	return vpmu_result(SBI_SUCCESS, 0);
}

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

		if (is_fw(v, lctr)) {
			v->counter[i].value = vpmu_fw_total(v, lctr) + v->counter[i].offset;
		} else {
			leave(v, lctr);
			*(is_alone(v, lctr) ? &stops : &hctrs) |= bit64(v->counter[i].hctr);
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

/* RESET of solo counters that do not run. */
static inline void forget_solo(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	v->configured &= ~set;
	v->solo &= ~set;
	v->overflow &= ~set;
	v->shown &= ~set;
	for_each_bit (i, set)
		v->hctr[i].users = 0;
	vpmu_update_direct(v);
}

struct sbi_ret vpmu_counter_stop(struct vpmu *v, unsigned long counter_idx_base,
                                 unsigned long counter_idx_mask, unsigned long stop_flags)
{
	uint64_t set = named_among(v->solo, counter_idx_base, counter_idx_mask);
	uint32_t i;

	/* In fewer instructions, where nothing need be asked: see solo in struct vpmu. */
	if (stop_flags == 0 && set != 0 && (set & (~v->running | v->near)) == 0 &&
	    vpmu_port_is_quiet()) {
		for_each_bit (i, set)
			v->counter[i].value = vpmu_port_read((hctr_t){i}) & v->value_mask;
		v->running &= ~set;
		v->active &= ~set;
		vpmu_port_stop(set);
		return vpmu_result(SBI_SUCCESS, 0);
	}
	if (stop_flags == SBI_PMU_STOP_FLAG_RESET && set != 0 && (set & v->running) == 0) {
		forget_solo(v, set);
		return vpmu_result(SBI_ERR_ALREADY_STOPPED, 0);
	}
	return vpmu_result(stop_any(v, counter_idx_base, counter_idx_mask, stop_flags), 0);
}
