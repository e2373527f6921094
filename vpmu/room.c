/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the guest's events to other hardware counters, so that one more can be counted: an
 * augmenting path of a bipartite matching. A request is refused only if no assignment of all events
 * to different counters exists.
 *
 * A move is exact. The guest does not run meanwhile, and a counter that does not count HS stands
 * still in HS: what was read from one hctr is what the other one starts from, as at a world switch.
 * A counter that counts HS would miss what HS does in between, so its policy has no moves. A
 * stopped counter moves without the hardware, which is prepared when the counter is started.
 *
 * The shortest path is taken. Where the port is expensive, each call moves one running event, and
 * the call is made again: the path is then one shorter.
 */
#include "vpmu/room.h"

#include "vpmu/hctr.h"

#define NOBODY UINT8_MAX

struct path {
	uint8_t hctr[VPMU_HW_COUNTERS]; /* the idle one, the one whose event goes there, ... */
	uint32_t n;
};

static bool is_idle(const struct vpmu *v, uint32_t hctr, uint64_t dropped)
{
	return (v->hctr[hctr].users & ~(dropped | VPMU_NOT_THE_GUESTS)) == 0;
}

/* Returns an idle hctr of these, or VPMU_HW_COUNTERS. */
static uint32_t idle_among(const struct vpmu *v, uint64_t hctrs, uint64_t dropped)
{
	uint32_t i;

	for_each_bit (i, hctrs)
		if (is_idle(v, i, dropped))
			return i;
	return VPMU_HW_COUNTERS;
}

/* A search in breadth. Each hctr is visited once. */
static bool find_path(const struct vpmu *v, uint64_t hctrs, uint64_t dropped, struct path *path)
{
	uint8_t from[VPMU_HW_COUNTERS];
	uint64_t level = hctrs & ~HCTRS_FIXED;
	uint64_t seen = level;
	uint32_t i, k;

	for_each_bit (i, level)
		from[i] = NOBODY;
	while (level != 0) {
		uint64_t next = 0;
		uint32_t idle = idle_among(v, level, dropped);

		if (idle != VPMU_HW_COUNTERS) {
			for (path->n = 0; idle != NOBODY; idle = from[idle])
				path->hctr[path->n++] = (uint8_t)idle;
			return true;
		}
		for_each_bit (i, level) {
			uint64_t more = vpmu_movable(v, (hctr_t){i}) & ~seen;

			for_each_bit (k, more)
				from[k] = (uint8_t)i;
			seen |= more;
			next |= more;
		}
		level = next;
	}
	return false;
}

bool vpmu_has_room(const struct vpmu *v, uint64_t hctrs, uint64_t dropped)
{
	struct path path;

	return find_path(v, hctrs, dropped, &path);
}

bool vpmu_find_place(const struct vpmu *v, const struct hw_event *event, uint64_t hctrs,
                     hctr_t *hctr)
{
	uint32_t i;

	for_each_bit (i, hctrs) {
		hctr->idx = i;
		if (!is_idle(v, i, 0) && hw_event_equal(&v->event[i], event))
			return true;
	}
	hctr->idx = idle_among(v, hctrs, 0);
	return hctr->idx != VPMU_HW_COUNTERS;
}

/* The users of `from` become users of `to`, which is idle. Does not touch the hardware. */
static void take_over(struct vpmu *v, hctr_t from, hctr_t to)
{
	uint64_t users = v->hctr[from.idx].users;
	uint32_t i;

	v->hctr[to.idx] = v->hctr[from.idx];
	v->hctr[to.idx].ahead = 0;
	v->hctr[from.idx].users = 0;
	v->in_step &= ~(bit64(from.idx) | bit64(to.idx));
	for_each_bit (i, users) {
		v->counter[i].hctr = (uint8_t)to.idx;
		v->counter[i].reader = 0;
	}
	vpmu_note_solo(v, from);
	vpmu_note_solo(v, to);
}

/* Moves an event with all its counters to an idle hctr. Returns false if the hardware refused; then
 * they are as before. */
static bool move(struct vpmu *v, hctr_t from, hctr_t to)
{
	struct hw_event event = v->event[from.idx];
	bool runs = (v->active & bit64(from.idx)) != 0;
	/* No overflow may be pending while the port works. */
	uint64_t flagged = vpmu_take_overflows(v);
	uint64_t stops = vpmu_end_observers_again(v, to);

	if (runs) {
		vpmu_hctr_sync(v, from);
		stops |= bit64(from.idx);
	}
	vpmu_apply(v, flagged & ~(bit64(from.idx) | bit64(to.idx)), stops, 0);
	if (!runs) {
		v->owned &= ~bit64(to.idx);
		vpmu_note_event(v, to, &event);
	} else if (!vpmu_hold(v, to, &event)) {
		vpmu_apply(v, bit64(from.idx), 0, 0);
		return false;
	}
	take_over(v, from, to);
	vpmu_apply(v, runs ? bit64(to.idx) : 0, 0, 0);
	return true;
}

enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs)
{
	struct path path;
	uint32_t i;

	if (!find_path(v, hctrs, 0, &path))
		return VPMU_NO_ROOM;
	for (i = 0; i + 1 < path.n; i++) {
		hctr_t from = {path.hctr[i + 1]};
		bool runs = (v->active & bit64(from.idx)) != 0;

		if (!move(v, from, (hctr_t){path.hctr[i]}))
			return VPMU_NO_ROOM;
		if (runs && !v->policy.cheap_moves && i + 2 < path.n)
			return VPMU_MORE_ROOM;
	}
	return VPMU_ROOM;
}
