/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that the guest executed and the hart did not count.
 *
 * An instruction that traps does not retire, but on a real machine the guest would have counted it.
 * All running counters of an hctr count the same, so adding one in the hardware adds one to each of
 * them, and no offset changes. If that is expensive, or would make the hardware wrap, the
 * instruction is counted in memory instead (`ahead`). Two kinds of hctr are then set again at once:
 * an armed one, which would wrap one count too late; and one whose OF the guest must see, because
 * the guest sees OF only of counters that it can read directly. All others lose only direct reads,
 * so they are set again only if that is cheap.
 */
#include "vpmu/hctr.h"

/* Counters that must remain readable by the guest, because it must see their OF. */
static inline uint64_t shown(const struct vpmu *v)
{
	return v->policy.shows_flags ? v->overflow & v->in_step : 0;
}

/* Not inlined, so that adding to `ahead` needs few registers. */
static __attribute__((noinline)) void move(struct vpmu *v, uint64_t hctrs)
{
	uint64_t moves = hctrs & (v->armed | (v->policy.cheap_moves ? v->in_step : shown(v)));
	uint64_t taken = 0;
	uint32_t i;

	/* Reads do not add `ahead` if the port can step, so it must stay 0. */
	if (v->policy.steps)
		moves = hctrs;
	if (moves != 0)
		taken = vpmu_take_overflows(v);
	for_each_bit (i, hctrs) {
		/* A counter that is near its wrap but not armed may have wrapped without an
		 * interrupt. */
		if ((moves >> i & 1) != 0 || (v->hctr[i].users & v->near) != 0)
			vpmu_hctr_sync(v, (hctr_t){i});
		vpmu_hctr_step(v, (hctr_t){i});
	}
	/* The next poll must come one count earlier. It is requested before any hctr is set,
	 * because an hctr that the hardware refuses to set may have any value. */
	if (v->polling && (hctrs & v->polled) != 0)
		vpmu_poll_sooner(v);
	vpmu_apply(v, moves | taken, 0, 0);
}

/* Records the set if it has one or two members, and returns whether it has. */
static bool note_step(struct vpmu *v, uint64_t counts)
{
	uint64_t others = counts & (counts - 1);

	if (counts == 0 || (others & (others - 1)) != 0)
		return false;
	v->step_hctr = (uint8_t)lowest_bit(counts);
	v->step_beside = others != 0 ? (uint8_t)lowest_bit(others) : v->step_hctr;
	v->step_counts = (uint32_t)counts;
	return true;
}

__attribute__((noinline)) void vpmu_retired_slow(struct vpmu *v, uint64_t hctrs)
{
	uint32_t i;

	/* If the sets are equal, vpmu_retired_fast() has tried to step them. */
	if (hctrs != v->step_counts) {
		(void)note_step(v, hctrs);
		hctrs = vpmu_step(v, hctrs);
		if (hctrs == 0)
			return;
	}
	if (v->near != 0 || v->policy.cheap_moves || shown(v) != 0) {
		move(v, hctrs);
		return;
	}
	for_each_bit (i, hctrs)
		v->hctr[i].ahead++;
	/* Their own values lack this instruction. */
	v->in_step &= ~hctrs;
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
		return vpmu_retired_cached(v, n, counts, value);
	}
	left = vpmu_step(v, counts);
	*value = vpmu_running_value(v, n);
	return left;
}

uint64_t vpmu_retired_scountovf(struct vpmu *v, uint64_t reader)
{
	uint64_t counts = vpmu_vs_retires(v);

	if (note_step(v, counts))
		v->ovf_reader = (uint32_t)reader;
	return vpmu_step(v, counts);
}
