/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a hardware counter counts, for the logical counters that share it.
 *
 * A running counter reads count(hctr) + its offset. The hctr can raise LCOFI for one wrap only,
 * and is read directly by one counter only: by the one with offset 0, its anchor. A counter that
 * is alone on its hctr is the anchor by the way it starts. Among several it is, in this order:
 *   - the one that will wrap first, of those whose wrap must be told;
 *   - the one of the hctr's own index, for it is direct then;
 *   - whatever it was: no stop and start for nothing.
 * Moving the anchor is a stop, a start at another count, and every offset changed by the
 * difference: no counter's value changes.
 */
#include "vpmu/internal.h"

struct anchor {
	uint64_t offset;
	bool armed;
};

static struct anchor choose_anchor(const struct vpmu *v, hctr_t hctr)
{
	struct anchor anchor = {.offset = 0, .armed = false};
	uint64_t users = v->users[hctr.idx] & v->running;
	uint64_t nearest = UINT64_MAX;
	uint32_t i;

	if ((users & bit64(hctr.idx)) != 0)
		anchor.offset = v->counter[hctr.idx].value;
	for_each_bit (i, users & v->near) {
		uint64_t offset = v->counter[i].value;
		/* One less than what remains to the wrap, which from zero may be 2^64. */
		uint64_t left = v->value_mask - ((v->count[hctr.idx] + offset) & v->value_mask);

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
	for_each_bit (i, v->users[hctr.idx] & v->running)
		v->counter[i].value = (v->counter[i].value - offset) & v->value_mask;
	v->count[hctr.idx] = (v->count[hctr.idx] + offset) & v->value_mask;
}

/*
 * Finds out what an hctr needs, and brings its counters to the anchor that it will have.
 * Adds it to those to be stopped and to be started.
 */
static void plan(struct vpmu *v, hctr_t hctr, uint64_t *stops, uint64_t *starts)
{
	uint64_t bit = bit64(hctr.idx);
	uint64_t users = v->users[hctr.idx] & v->running;
	struct anchor anchor;

	if (users == 0) {
		*stops |= v->active & bit;
		return;
	}
	anchor = choose_anchor(v, hctr);
	if ((v->active & bit) == 0 || anchor.offset != 0 ||
	    anchor.armed != ((v->armed & bit) != 0)) {
		move_anchor(v, hctr, anchor.offset);
		*stops |= v->active & bit;
		*starts |= bit;
	}
	if ((users & bit) != 0 && v->counter[hctr.idx].value == 0)
		v->in_step |= bit;
	else
		v->in_step &= ~bit;
}

static void stop(struct vpmu *v, uint64_t hctrs)
{
	vpmu_port_stop(hctrs);
	v->active &= ~hctrs;
	v->armed &= ~hctrs;
	/* Linux reads after it stops: where the value is still there, that read needs no exit. It is
	 * not, where the counter went on after its value was taken. */
	if (!v->policy.count_hs)
		v->held |= v->in_step & hctrs & ~v->running;
	v->in_step &= ~(hctrs & ~v->running);
}

static void lose(struct vpmu *v, hctr_t hctr)
{
	uint64_t users = v->users[hctr.idx] & v->running;
	uint32_t i;

	for_each_bit (i, users)
		v->counter[i].value = (v->count[hctr.idx] + v->counter[i].value) & v->value_mask;
	v->running &= ~users;
	v->near &= ~users;
	v->in_step &= ~bit64(hctr.idx);
	v->lost |= users;
}

static void start(struct vpmu *v, uint64_t hctrs)
{
	struct vpmu_hw_start starts[VPMU_HW_COUNTERS];
	uint64_t armed = 0;
	uint64_t refused;
	uint32_t n = 0;
	uint32_t i;

	for_each_bit (i, hctrs) {
		uint64_t users = v->users[i] & v->running;
		uint32_t any = (users >> i & 1) != 0 ? i : lowest_bit(users);

		starts[n].hctr.idx = i;
		starts[n].armed = (users & v->near) != 0;
		starts[n].value = v->count[i];
		starts[n].config = v->counter[any].event;
		if (starts[n].armed)
			armed |= bit64(i);
		n++;
	}
	refused = vpmu_port_start(starts, n);
	v->held &= ~hctrs;
	v->active |= hctrs & ~refused;
	v->armed |= armed & ~refused;
	for_each_bit (i, refused)
		lose(v, (hctr_t){i});
}

void vpmu_apply(struct vpmu *v, uint64_t hctrs, uint64_t stops, uint64_t starts)
{
	uint32_t i;

	/* A counter that is alone is the one of its hctr's own index, if that is at home there. */
	v->in_step |= starts & v->home;
	for (;;) {
		for_each_bit (i, hctrs)
			plan(v, (hctr_t){i}, &stops, &starts);
		hctrs = 0;
		if (stops != 0)
			stop(v, stops);
		/* The values above were looked at, and another may have wrapped while they were. */
		if (v->policy.count_hs && starts != 0)
			hctrs = vpmu_take_overflows(v);
		if (starts != 0)
			start(v, starts);
		if (hctrs == 0)
			break;
		/* Only for counters that move in HS; each turn needs one more near one to wrap. */
		stops = 0;
		starts = 0;
	}
	vpmu_update_direct(v);
	vpmu_raise_due(v);
}
