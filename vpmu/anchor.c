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

static bool in_place(const struct vpmu *v, hctr_t hctr, struct anchor anchor)
{
	uint64_t bit = bit64(hctr.idx);

	return (v->active & bit) != 0 && anchor.offset == 0 &&
	       anchor.armed == ((v->armed & bit) != 0);
}

static void stop(struct vpmu *v, uint64_t hctrs)
{
	uint32_t i;

	if (hctrs == 0)
		return;
	vpmu_port_stop(hctrs);
	v->active &= ~hctrs;
	v->armed &= ~hctrs;
	/* It went on after its counters' values were taken. */
	if (v->policy.count_hs)
		return;

	/* Linux reads after it stops: where the value is still there, that read needs no exit. */
	for_each_bit (i, hctrs & v->configured & ~v->running & ~v->lost) {
		const struct vpmu_counter *c = &v->counter[i];

		if (c->hctr == i && c->value == v->count[i])
			v->held |= bit64(i);
	}
}

static void lose(struct vpmu *v, hctr_t hctr)
{
	uint64_t users = v->users[hctr.idx] & v->running;
	uint32_t i;

	for_each_bit (i, users)
		v->counter[i].value = (v->count[hctr.idx] + v->counter[i].value) & v->value_mask;
	v->running &= ~users;
	v->near &= ~users;
	v->lost |= users;
}

static void start(struct vpmu *v, const struct vpmu_hw_start *starts, uint32_t n)
{
	uint64_t refused;
	uint32_t k;

	if (n == 0)
		return;
	refused = vpmu_port_start(starts, n);
	for (k = 0; k < n; k++) {
		uint64_t bit = bit64(starts[k].hctr.idx);

		v->held &= ~bit;
		if ((refused & bit) != 0) {
			lose(v, starts[k].hctr);
			continue;
		}
		v->active |= bit;
		if (starts[k].armed)
			v->armed |= bit;
	}
}

void vpmu_update_direct(struct vpmu *v)
{
	uint64_t direct = 0;
	uint32_t i;

	for_each_bit (i, (v->active | v->held) & v->configured & ~v->lost) {
		const struct vpmu_counter *c = &v->counter[i];

		if (c->hctr != i)
			continue;
		if ((v->running & bit64(i)) != 0 ? c->value == 0 : (v->held & bit64(i)) != 0)
			direct |= bit64(i);
	}
	if (v->policy.trap_reads)
		direct = 0;
	if (direct != v->direct) {
		v->direct = direct;
		vpmu_port_set_direct(direct);
	}
}

/* Returns the hctrs that have to be applied because of what happened meanwhile. */
static uint64_t apply_once(struct vpmu *v, uint64_t hctrs)
{
	struct vpmu_hw_start starts[VPMU_HW_COUNTERS];
	uint64_t stops = 0;
	uint64_t taken = 0;
	uint32_t n = 0;
	uint32_t i;

	for_each_bit (i, hctrs) {
		uint64_t users = v->users[i] & v->running;
		hctr_t hctr = {i};

		if (users != 0) {
			struct anchor anchor = choose_anchor(v, hctr);

			if (in_place(v, hctr, anchor))
				continue;
			move_anchor(v, hctr, anchor.offset);
			starts[n++] = (struct vpmu_hw_start){
			    .hctr = hctr,
			    .armed = anchor.armed,
			    .value = v->count[i],
			    .config = vpmu_event_of(v, (lctr_t){lowest_bit(users)}),
			};
		}
		stops |= bit64(i) & v->active;
	}
	stop(v, stops);
	/* The values above were looked at, and another may have wrapped while they were. */
	if (v->policy.count_hs && n != 0)
		taken = vpmu_take_overflows(v);
	start(v, starts, n);
	return taken;
}

void vpmu_apply(struct vpmu *v, uint64_t hctrs)
{
	/* Again only for counters that move in HS; each turn needs one more near one to wrap. */
	while (hctrs != 0)
		hctrs = apply_once(v, hctrs);
	vpmu_update_direct(v);
	vpmu_fw_update_watch(v);
	vpmu_raise_due(v);
}
