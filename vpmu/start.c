/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting counters: SBI 3.0 section 11.9. Nearly all starts take the fast path at the end of this
 * file; the others take the slow path.
 */
#include "vpmu/hctr.h"

static inline uint64_t start_value(const struct vpmu *v, lctr_t lctr, enum vpmu_start_from from,
                                   uint64_t arg)
{
	uint64_t value = arg;

	if (from == VPMU_FROM_KEPT)
		return v->counter[lctr.idx].value;
	if (from == VPMU_FROM_SNAPSHOT)
		value = vpmu_snapshot_value(v, lctr.idx - (uint32_t)arg);
	return vpmu_is_fw(v, lctr) ? value : value & v->value_mask;
}

/* Must be called after the hctr was synced: a sync looks for wraps of all counters in `near`, and
 * would use the counter's old offset. */
static inline void note_near(struct vpmu *v, lctr_t lctr, uint64_t value)
{
	if (vpmu_near(v, value))
		v->near |= bit64(lctr.idx);
}

/* Computes the offset with which a hardware counter that starts now has this value. Other counters
 * may be running on its hctr. `synced`: the hctrs that were synced in this call. */
static void join(struct vpmu *v, lctr_t lctr, uint64_t value, uint64_t synced)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	struct vpmu_hctr *h = &v->hctr[c->hctr];

	if ((v->active & ~synced) >> c->hctr & 1)
		vpmu_hctr_sync(v, (hctr_t){c->hctr});
	else if ((v->active >> c->hctr & 1) == 0 && (h->users & v->running) == bit64(lctr.idx))
		h->count = value;
	note_near(v, lctr, value);
	c->offset = (value - h->count) & v->value_mask;
}

static void start_set(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg)
{
	uint64_t hctrs = 0;
	uint64_t ready = 0;
	uint32_t i;

	if ((set & v->policy.hctrs) != 0)
		hctrs = vpmu_take_overflows(v);
	/* A counter whose value is unknown cannot continue from it, so it stays lost. */
	if (from == VPMU_FROM_KEPT)
		set &= ~v->unknown;
	v->unknown &= ~set;
	v->lost &= ~set;
	v->overflow &= ~set;
	/* The hctr of the same index may hold another value from here on. */
	v->in_step &= ~set;
	for_each_bit (i, set) {
		struct vpmu_counter *c = &v->counter[i];
		lctr_t lctr = {i};
		uint64_t value = start_value(v, lctr, from, arg);

		v->running |= bit64(i);
		if (vpmu_is_fw(v, lctr)) {
			c->offset = value - vpmu_fw_total(v, lctr);
			continue;
		}
		if ((v->polled >> c->hctr & 1) != 0 && vpmu_near(v, value))
			v->needs_slow_path = true;
		/* Counters that count HS may wrap before all are set, and polled ones need a
		 * request for a poll. vpmu_apply_all() handles both. */
		if (vpmu_is_alone(v, lctr) && !v->policy.count_hs &&
		    (v->polled >> c->hctr & 1) == 0) {
			/* The hardware counter gets the guest's own value. */
			v->hctr[c->hctr].count = value;
			c->offset = 0;
			if (c->hctr == i)
				v->in_step |= bit64(i);
			note_near(v, lctr, value);
			ready |= vpmu_set(v, (hctr_t){c->hctr}, bit64(i));
			vpmu_note_solo(v, (hctr_t){c->hctr});
		} else {
			join(v, lctr, value, hctrs);
			hctrs |= bit64(c->hctr);
		}
	}
	if ((set & v->fw_lctrs) != 0)
		vpmu_fw_update_watch(v);
	vpmu_apply(v, hctrs, 0, ready);
}

/* With shows_flags. Starts the counters whose OF the guest would see, and returns the others. */
static uint64_t start_seen(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg)
{
	uint64_t near = 0;
	uint64_t unseen;
	uint32_t i;

	for_each_bit (i, set & v->policy.hctrs)
		if (vpmu_near(v, start_value(v, (lctr_t){i}, from, arg)))
			near |= bit64(i);
	unseen = vpmu_not_showable(v, near);
	if (set != unseen)
		start_set(v, set & ~unseen, from, arg);
	return unseen;
}

uint64_t vpmu_start_set(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg)
{
	uint64_t unseen = 0;
	uint32_t i;

	if (!v->policy.shows_flags) {
		if (set != 0)
			start_set(v, set, from, arg);
		return 0;
	}
	if (from != VPMU_FROM_SNAPSHOT)
		return start_seen(v, set, from, arg);
	/* Each value is read once, because the guest may change it at any time. */
	for_each_bit (i, set)
		unseen |= start_seen(v, bit64(i), VPMU_FROM_GIVEN,
		                     start_value(v, (lctr_t){i}, from, arg));
	return unseen;
}

static __attribute__((noinline)) vpmu_answer start_any(struct vpmu *v, unsigned long base,
                                                       unsigned long mask, unsigned long flags,
                                                       uint64_t initial_value)
{
	enum vpmu_start_from from = VPMU_FROM_KEPT;
	uint64_t arg = initial_value;
	uint64_t set;
	uint64_t already;
	uint64_t unseen;

	if (!vpmu_counter_set(v, base, mask, &set) || (set & ~v->configured) != 0 ||
	    flags >= SBI_PMU_START_FLAG_ALL)
		return vpmu_error(SBI_ERR_INVALID_PARAM);
	if (flags == SBI_PMU_START_SET_INIT_VALUE) {
		from = VPMU_FROM_GIVEN;
	} else if (flags == SBI_PMU_START_FLAG_INIT_SNAPSHOT) {
		if (!v->snapshot_set)
			return vpmu_error(SBI_ERR_NO_SHMEM);
		from = VPMU_FROM_SNAPSHOT;
		arg = base;
	}

	already = set & v->running;
	set &= ~already;
	unseen = vpmu_start_set(v, set, from, arg);

	/* Not in table 40, but SBI_SUCCESS would hide that the counter stands still. */
	if ((set & (v->lost | unseen)) != 0)
		return vpmu_error(SBI_ERR_FAILED);
	return vpmu_error(already != 0 ? SBI_ERR_ALREADY_STARTED : SBI_SUCCESS);
}

/* Records the start of solo counters. It needs no decisions, see `solo` in struct vpmu. */
static inline void note_started(struct vpmu *v, uint64_t set)
{
	v->overflow &= ~set;
	v->running |= set;
	v->active |= set;
	v->in_step |= set;
	vpmu_set_direct(v, v->direct | (set & v->openable));
	vpmu_settle_wfi(v);
}

/* The slow path for solo counters, whose arguments are checked already. */
static __attribute__((noinline)) vpmu_answer start_solo(struct vpmu *v, uint64_t set,
                                                        enum vpmu_start_from from, uint64_t value)
{
	start_set(v, set, from, value);
	return vpmu_error(SBI_SUCCESS);
}

/* Not inlined, so that the usual start, far from the wrap, needs fewer registers. */
static __attribute__((noinline)) vpmu_answer start_near(struct vpmu *v, uint64_t set,
                                                        uint64_t value)
{
	hctr_t hctr;

	if ((set & v->polled) != 0 || (set & (set - 1)) != 0)
		return start_solo(v, set, VPMU_FROM_GIVEN, value);
	note_started(v, set);
	v->near |= set;
	v->armed |= set;
	hctr.idx = only_bit(set);
	v->hctr[hctr.idx].count = value;
	vpmu_port_start_armed(hctr, value);
	return vpmu_error(SBI_SUCCESS);
}

static __attribute__((noinline)) vpmu_answer start_elsewhere(struct vpmu *v, uint64_t set)
{
	uint64_t elsewhere = set & ~v->in_step;
	uint32_t i;

	note_started(v, set);
	for_each_bit (i, elsewhere)
		vpmu_port_set(bit64(i), v->counter[i].value, false);
	vpmu_port_run(set);
	return vpmu_error(SBI_SUCCESS);
}

/* Starts counters from their own values, which are nearly always still in the hardware. */
static __attribute__((noinline)) vpmu_answer start_kept(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	for_each_bit (i, set)
		if (vpmu_near(v, v->counter[i].value))
			return start_solo(v, set, VPMU_FROM_KEPT, 0);
	if ((set & ~v->in_step) != 0)
		return start_elsewhere(v, set);
	note_started(v, set);
	vpmu_port_run(set);
	return vpmu_error(SBI_SUCCESS);
}

vpmu_answer vpmu_start_answer(struct vpmu *v, unsigned long counter_idx_base,
                              unsigned long counter_idx_mask, unsigned long start_flags,
                              uint64_t initial_value)
{
	uint64_t set = vpmu_named(counter_idx_base, counter_idx_mask);
	uint64_t value;

	if (set == 0 || start_flags > SBI_PMU_START_SET_INIT_VALUE ||
	    (set & ~(v->solo & v->owned & ~v->running)) != 0 || !vpmu_port_is_quiet())
		return start_any(v, counter_idx_base, counter_idx_mask, start_flags, initial_value);
	if (start_flags == 0)
		return start_kept(v, set);
	value = initial_value & v->value_mask;
	if (vpmu_near(v, value))
		return start_near(v, set, value);
	note_started(v, set);
	vpmu_port_start(set, value);
	return vpmu_error(SBI_SUCCESS);
}
