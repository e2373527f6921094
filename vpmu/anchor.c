/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value at which a hardware counter runs when several logical counters share it.
 *
 * A running counter reads count(hctr) + its offset. An hctr can raise LCOFI for one wrap only, and
 * only one counter can be read directly: the one with offset 0, called its anchor. A counter that
 * is alone on its hctr is started with offset 0, so it is the anchor. Among several, the anchor is,
 * in this order:
 * - the one that wraps first, of those whose wrap must be reported;
 * - the one with the hctr's own index, because it can then be read directly;
 * - the present one, to avoid a stop and a start.
 *
 * To move the anchor, the hctr is stopped and started at another count, and the difference is
 * subtracted from every offset. The value of no counter changes.
 */
#include "vpmu/hctr.h"

struct anchor {
	uint64_t offset;
	bool armed;
};

static struct anchor choose_anchor(const struct vpmu *v, hctr_t hctr)
{
	struct anchor anchor = {.offset = 0, .armed = false};
	uint64_t users = v->hctr[hctr.idx].users & v->running;
	uint64_t nearest = UINT64_MAX;
	uint32_t i;

	if ((users & bit64(hctr.idx)) != 0)
		anchor.offset = v->counter[hctr.idx].offset;
	for_each_bit (i, users & v->near) {
		uint64_t offset = v->counter[i].offset;
		/* One less than the counts until the wrap, which may be 2^64. */
		uint64_t left =
		    v->value_mask - ((v->hctr[hctr.idx].count + offset) & v->value_mask);

		if (left < nearest) {
			nearest = left;
			anchor = (struct anchor){.offset = offset, .armed = true};
		}
	}
	return anchor;
}

static void move_anchor(struct vpmu *v, hctr_t hctr, uint64_t offset)
{
	uint32_t i;

	if (offset == 0)
		return;
	for_each_bit (i, v->hctr[hctr.idx].users & v->running)
		v->counter[i].offset = (v->counter[i].offset - offset) & v->value_mask;
	v->hctr[hctr.idx].count = (v->hctr[hctr.idx].count + offset) & v->value_mask;
}

/*
 * Chooses the anchor of an hctr, and moves it. Returns whether the hctr must be started (after a
 * stop if it is active).
 */
static bool must_start(struct vpmu *v, hctr_t hctr, uint64_t users)
{
	uint64_t bit = bit64(hctr.idx);
	struct anchor anchor = choose_anchor(v, hctr);
	/* Instructions in `ahead` delay the interrupt, and are missing in direct reads. */
	bool ahead =
	    v->hctr[hctr.idx].ahead != 0 && (anchor.armed || (users & bit) != 0 || v->policy.steps);
	bool start = (v->active & bit) == 0 || anchor.offset != 0 || ahead ||
	             anchor.armed != ((v->armed & bit) != 0);

	if (start)
		move_anchor(v, hctr, anchor.offset);
	put_bits(&v->in_step, bit, (users & bit) != 0 && v->counter[hctr.idx].offset == 0);
	vpmu_note_solo(v, hctr);
	return start;
}

void vpmu_lose(struct vpmu *v, hctr_t hctr)
{
	uint64_t users = v->hctr[hctr.idx].users & v->running;
	uint32_t i;

	for_each_bit (i, users) {
		v->counter[i].value =
		    (v->hctr[hctr.idx].count + v->counter[i].offset) & v->value_mask;
		v->counter[i].reader = 0;
	}
	v->running &= ~users;
	v->near &= ~users;
	v->in_step &= ~bit64(hctr.idx);
	v->lost |= users;
	if ((users & bit64(VPMU_BUDGET)) != 0)
		vpmu_port_budget_lost();
	vpmu_note_solo(v, hctr);
	vpmu_fixed_release(v, bit64(hctr.idx));
}

/*
 * A start or a stop that the hardware has refused. vpmu/ learns this afterwards, before the guest
 * can read a value. A counter that should run has stood still at its initial value, or was not set.
 * A counter that should be stopped stands still until HS is left, and its value was read before.
 */
void vpmu_handle_failed(struct vpmu *v, uint64_t hctrs)
{
	uint64_t active = v->active & hctrs;
	uint64_t lost;
	uint32_t i;

	/* All are removed before the first one is lost, because vpmu_lose() may poll those that are
	 * active. */
	v->active &= ~hctrs;
	for_each_bit (i, hctrs) {
		/* The contents of the hctr cannot be used again. */
		vpmu_evict(v, (hctr_t){i});
		vpmu_stop_showing(v, (hctr_t){i});
	}
	for_each_bit (i, active) {
		lost = v->hctr[i].users & v->running;
		vpmu_lose(v, (hctr_t){i});
		/* Not all paths that lead here have read the count. */
		v->unknown |= lost;
	}
	vpmu_set_direct(v, v->direct & ~hctrs);
	vpmu_raise_due(v);
}

void vpmu_apply_all(struct vpmu *v, uint64_t hctrs, uint64_t stops, uint64_t ready)
{
	uint32_t i;

	while ((hctrs | stops | ready) != 0) {
		uint64_t starts = 0;

		for_each_bit (i, hctrs) {
			uint64_t users = v->hctr[i].users & v->running;

			if (users != 0 && !must_start(v, (hctr_t){i}, users))
				continue;
			stops |= v->active & bit64(i);
			if (users != 0)
				starts |= bit64(i);
		}
		if (stops != 0)
			vpmu_stop(v, stops);
		/* A counter that counts HS may have wrapped meanwhile; then the loop is repeated.
		 * Each repetition takes another counter that wraps, so their number is bounded. */
		hctrs =
		    v->needs_slow_path && starts != 0 ? vpmu_slow_path_before_start(v, starts) : 0;
		for_each_bit (i, starts) {
			uint64_t users = v->hctr[i].users & v->running;

			ready |= vpmu_set(v, (hctr_t){i}, users);
		}
		if (ready != 0)
			vpmu_run(v, ready);
		stops = 0;
		ready = 0;
	}
	vpmu_update_direct(v);
	vpmu_raise_due(v);
}
