/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping counters, and RESET: SBI 3.0 section 11.10. The fast path at the end of this file is for
 * solo counters that are not near their wraps. All other stops take the slow path, stop_any().
 */
#include "vpmu/hctr.h"

/* Records the value of a running hardware counter that stops. `synced`: the hctrs that were synced
 * in this call. Another sync would look at each of the counters that share the hctr again. */
static void leave(struct vpmu *v, lctr_t lctr, uint64_t synced)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];

	if ((synced >> c->hctr & 1) == 0)
		vpmu_hctr_sync(v, (hctr_t){c->hctr});
	c->value = (v->hctr[c->hctr].count + c->offset) & v->value_mask;
	c->reader = 0;
	v->near &= ~bit64(lctr.idx);
}

/* Stops running counters. With `take`, also does TAKE_SNAPSHOT of `set`, which contains them. */
static void stop_set(struct vpmu *v, uint64_t running, uint64_t set, unsigned long base, bool take)
{
	uint64_t hctrs = 0;
	uint64_t stops = 0;
	uint32_t i;

	/* A pending overflow happened before this call, so it is recorded first. */
	if ((running & v->policy.hctrs) != 0 || take)
		hctrs = vpmu_take_overflows(v);
	for_each_bit (i, running) {
		lctr_t lctr = {i};

		if (vpmu_is_fw(v, lctr)) {
			v->counter[i].value = vpmu_fw_total(v, lctr) + v->counter[i].offset;
		} else {
			leave(v, lctr, hctrs | stops);
			*(vpmu_is_alone(v, lctr) ? &stops : &hctrs) |= bit64(v->counter[i].hctr);
		}
	}
	v->running &= ~running;
	for_each_bit (i, stops)
		vpmu_note_solo(v, (hctr_t){i});
	if ((running & v->fw_lctrs) != 0)
		vpmu_fw_update_watch(v);
	/* The snapshot shows values and OF from before RESET. */
	if (take)
		vpmu_snapshot_take(v, set, base);
	vpmu_apply(v, hctrs, stops, 0);
}

static __attribute__((noinline)) vpmu_answer stop_any(struct vpmu *v, unsigned long base,
                                                      unsigned long mask, unsigned long flags)
{
	bool take = (flags & SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT) != 0;
	uint64_t running;
	uint64_t set;

	if (!vpmu_counter_set(v, base, mask, &set) || (flags & ~SBI_PMU_STOP_FLAG_ALL) != 0)
		return vpmu_error(SBI_ERR_INVALID_PARAM);
	if (take && !v->snapshot_set)
		return vpmu_error(SBI_ERR_NO_SHMEM);

	running = set & v->running;
	if (running != 0 || take)
		stop_set(v, running, set, base, take);
	if ((flags & SBI_PMU_STOP_FLAG_RESET) != 0) {
		vpmu_forget(v, set);
		vpmu_update_direct(v);
	}
	return vpmu_error(running != set ? SBI_ERR_ALREADY_STOPPED : SBI_SUCCESS);
}

/*
 * Whether all of these counters are solo, run and are not near their wraps, and no LCOFI is
 * pending. Then the fast path can stop them; see `solo` in struct vpmu.
 */
static inline bool stops_solo(const struct vpmu *v, uint64_t set)
{
	return set != 0 && (set & ~(v->solo & v->running & ~v->near)) == 0 && vpmu_port_is_quiet();
}

static inline void leave_solo(struct vpmu *v, uint32_t i)
{
	v->counter[i].value = vpmu_count(v, (hctr_t){i});
	v->counter[i].reader = 0;
	v->hctr[i].ahead = 0;
}

/* RESET. The hctrs keep their contents. */
static inline void forget_solo(struct vpmu *v, uint64_t set)
{
	v->configured &= ~set;
	v->solo &= ~set;
	v->overflow &= ~set;
	vpmu_update_direct(v);
}

static __attribute__((noinline)) vpmu_answer reset_stopped(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	for_each_bit (i, set)
		v->hctr[i].users = 0;
	forget_solo(v, set);
	return vpmu_error(SBI_ERR_ALREADY_STOPPED);
}

static inline vpmu_answer end_stop(struct vpmu *v, uint64_t set)
{
	v->running &= ~set;
	v->active &= ~set;
	vpmu_port_stop(set);
	return vpmu_error(SBI_SUCCESS);
}

/* A stop with flags. Not inlined, so that a stop without flags needs fewer registers. */
static __attribute__((noinline)) vpmu_answer stop_reset(struct vpmu *v, unsigned long base,
                                                        unsigned long mask, unsigned long flags)
{
	uint64_t set = vpmu_named(base, mask);
	uint32_t i;

	if (flags != SBI_PMU_STOP_FLAG_RESET || set == 0 || (set & ~v->solo) != 0)
		return stop_any(v, base, mask, flags);
	if ((set & v->running) == 0)
		return reset_stopped(v, set);
	if (!stops_solo(v, set) || (set & (set - 1)) != 0)
		return stop_any(v, base, mask, flags);
	i = only_bit(set);
	leave_solo(v, i);
	v->hctr[i].users = 0;
	forget_solo(v, set);
	return end_stop(v, set);
}

static __attribute__((noinline)) vpmu_answer stop_several(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	for_each_bit (i, set)
		leave_solo(v, i);
	return end_stop(v, set);
}

vpmu_answer vpmu_stop_answer(struct vpmu *v, unsigned long counter_idx_base,
                             unsigned long counter_idx_mask, unsigned long stop_flags)
{
	uint64_t set;

	if (stop_flags != 0)
		return stop_reset(v, counter_idx_base, counter_idx_mask, stop_flags);
	set = vpmu_named(counter_idx_base, counter_idx_mask);
	if (!stops_solo(v, set))
		return stop_any(v, counter_idx_base, counter_idx_mask, 0);
	if ((set & (set - 1)) != 0)
		return stop_several(v, set);
	leave_solo(v, only_bit(set));
	return end_stop(v, set);
}
