/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the guest's events to other hardware counters, so that one more can be counted, along an
 * augmenting path of a bipartite matching. A request is refused only if no assignment of all events
 * to different programmable counters exists.
 *
 * A move is exact. The guest does not run meanwhile, and a counter that does not count HS stands
 * still in HS: the new hctr starts at the value that was read from the old one, as at a world
 * switch. A counter that counts HS would miss the work of HS in between, so a policy with count_hs
 * has no moves. A stopped counter moves without the hardware, which is prepared when the counter is
 * started.
 *
 * The shortest path is taken. Without `cheap_moves` each call moves one running event and returns;
 * the next call finds a path that is one move shorter.
 */
#include "vpmu/hctr.h"

#define NOBODY UINT8_MAX

struct path {
	uint8_t hctr[VPMU_HW_COUNTERS]; /* [0] has room; the event of [n + 1] moves to [n] */
	uint32_t n;
};

static uint64_t guests(const struct vpmu *v, hctr_t hctr)
{
	return v->hctr[hctr.idx].users & ~VPMU_HOST_USERS;
}

/* Returns the lowest of these hctrs that has no counter of the guest, or a single one that is in
 * `droppable`. NOBODY if there is none. */
static uint32_t end_among(const struct vpmu *v, uint64_t hctrs, uint64_t droppable)
{
	uint32_t i;

	for_each_bit (i, hctrs) {
		uint64_t users = guests(v, (hctr_t){i});

		if (users == 0 || ((users & (users - 1)) == 0 && (users & droppable) != 0))
			return i;
	}
	return NOBODY;
}

/* A breadth-first search. Each hctr is visited once. */
static bool find_path(const struct vpmu *v, uint64_t hctrs, uint64_t droppable, struct path *path)
{
	uint8_t from[VPMU_HW_COUNTERS];
	uint64_t level = hctrs & ~HCTRS_FIXED;
	uint64_t seen = level;
	uint32_t i, k;

	for_each_bit (i, level)
		from[i] = NOBODY;
	while (level != 0) {
		uint64_t next = 0;
		uint32_t end = end_among(v, level, droppable);

		if (end != NOBODY) {
			for (path->n = 0; end != NOBODY; end = from[end])
				path->hctr[path->n++] = (uint8_t)end;
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

/* The users of `from` become users of `to`, whose own counters lose their configuration. Does not
 * touch the hardware. */
static void take_over(struct vpmu *v, hctr_t from, hctr_t to)
{
	uint64_t users = v->hctr[from.idx].users;
	uint32_t i;

	vpmu_forget(v, guests(v, to));
	v->hctr[to.idx] = v->hctr[from.idx];
	v->hctr[from.idx].users = 0;
	v->in_step &= ~(bit64(from.idx) | bit64(to.idx));
	for_each_bit (i, users) {
		v->counter[i].hctr = (uint8_t)to.idx;
		v->counter[i].reader = 0;
	}
	vpmu_note_solo(v, from);
	vpmu_note_solo(v, to);
}

/* Moves the event of `from`, with all its counters, to `to`. Returns false if the hardware refused;
 * then the guest's counters are as before. */
static bool move(struct vpmu *v, hctr_t from, hctr_t to)
{
	struct hw_event event = v->event[from.idx];
	bool runs = (v->active & bit64(from.idx)) != 0;
	uint64_t stops = vpmu_end_observers(v, to);

	if (runs) {
		vpmu_hctr_sync(v, from);
		stops |= bit64(from.idx);
	}
	vpmu_apply(v, 0, stops, 0);
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

enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs, uint64_t droppable)
{
	struct path path;
	uint64_t flagged;
	uint32_t i;

	/* A path without moves means that an hctr has room already, but the hardware has refused
	 * it. */
	if (!find_path(v, hctrs, droppable, &path) || path.n == 1)
		return VPMU_NO_ROOM;
	/* No overflow may be pending while the port works. */
	flagged = vpmu_take_overflows(v);
	vpmu_apply(v, flagged, 0, 0);
	/* The hardware may refuse to start them again. vpmu_handle_failed() reports that after this
	 * call, and until then they must not be moved. */
	if (flagged != 0 && !v->policy.cheap_moves)
		return VPMU_MORE_ROOM;
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
