/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of vpmu/ do to hardware counters, through the port: who owns them, where they
 * count from, and what their wraps mean. All of it is for the resident vcpu.
 */
#ifndef VPMU_HCTR_H
#define VPMU_HCTR_H

#include "vpmu/internal.h"

/* config.c */

/* Does the hart's counter hold an event and filter for this vcpu? Pure. */
static inline bool vpmu_holds(const struct vpmu *v, hctr_t hctr, const struct hw_event *event)
{
	return (v->owned >> hctr.idx & 1) != 0 && hw_event_equal(&v->event[hctr.idx], event);
}

/*
 * Makes an idle hctr hold an event and filter, whatever it held. false: the hardware refused, and
 * it holds nothing of this vcpu's.
 */
bool vpmu_hold(struct vpmu *v, hctr_t hctr, const struct hw_event *event);

/* What an hctr holds from now on, or will when it is set. Pure. */
void vpmu_note_event(struct vpmu *v, hctr_t hctr, const struct hw_event *event);

/* observe.c */

/*
 * The guest needs an hctr that no running counter of its own uses: its observers end, and somebody
 * is told. Returns it if it runs, to be stopped. To be called when overflows have been taken.
 */
uint64_t vpmu_end_observers(struct vpmu *v, hctr_t hctr);

/* overflow.c */

/*
 * Will a hardware counter that starts at this value wrap within 2^62 counts, so that its wrap
 * must be told? Pure.
 */
static inline bool vpmu_near(const struct vpmu *v, uint64_t value)
{
	return v->value_mask - value < v->near_span;
}

/* Gives the flags of armed hctrs to the counters they belong to. */
void vpmu_give_overflows(struct vpmu *v, uint64_t flagged);

/*
 * Takes what pends off the hart and gives it to the counters it belongs to. Returns the hctrs
 * that must be applied because of it. Nearly always that is none.
 */
static inline uint64_t vpmu_take_overflows(struct vpmu *v)
{
	uint64_t flagged = vpmu_port_take_overflow(v->armed) & v->armed;

	if (flagged != 0)
		vpmu_give_overflows(v, flagged);
	return flagged;
}

/*
 * After the last counter was stopped: one that moves in HS may have made an LCOFI pend since
 * overflows were taken, and whoever starts counters next must not find it.
 */
void vpmu_drop_pending(const struct vpmu *v);

/* Sets OF in each of these near counters that passed zero since their hctr's count was that. Were
 * there any? */
bool vpmu_find_wraps(struct vpmu *v, hctr_t hctr, uint64_t before, uint64_t lctrs);

/*
 * Reads an hctr that this vcpu started and sets OF in each of its running counters that passed
 * zero since the last look. Were there any?
 */
static inline bool vpmu_hctr_sync(struct vpmu *v, hctr_t hctr)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t near = h->users & v->near;
	uint64_t before = h->count;

	h->count = vpmu_count(v, hctr);
	return near != 0 && vpmu_find_wraps(v, hctr, before, near);
}

/*
 * Adds one to an hctr, as an event would, and nothing to the hardware: it must have been synced if
 * a counter of it is near, and has to be applied then.
 */
void vpmu_hctr_step(struct vpmu *v, hctr_t hctr);

/* Raises LCOFI if a wrap was found since the last time. */
static inline void vpmu_raise_due(struct vpmu *v)
{
	if (v->lcofi_due) {
		v->lcofi_due = false;
		vpmu_port_raise_lcofi();
	}
}

/* anchor.c */

/*
 * Starts, moves and stops the given hctrs as their running counters need it, with at most one
 * stop and one start of the port; updates the direct set; raises LCOFI if due. Each that is
 * active must have been synced. Counters of an hctr that the hardware refuses become lost.
 * What needs no thought is in stops (active, no running counter is left) and ready (set by
 * vpmu_set(), to be run).
 */
void vpmu_apply_all(struct vpmu *v, uint64_t hctrs, uint64_t stops, uint64_t ready);

/* The hardware refused an hctr: its running counters stop, and are lost. */
void vpmu_lose(struct vpmu *v, hctr_t hctr);

/* fixed.c */

/* For a careful one: these hctrs were just stopped, or are to be started. The latter returns hctrs
 * that must be applied as well. */
void vpmu_careful_stopped(struct vpmu *v, uint64_t hctrs);
uint64_t vpmu_careful_starts(struct vpmu *v, uint64_t hctrs);

/* The vcpu leaves the hart, or ends: no look is wanted any more. And it has come back. */
void vpmu_end_looks(struct vpmu *v);
void vpmu_look_again(struct vpmu *v);

/* While one is due: silent hctrs are nearer to their wraps than the hardware knows. */
void vpmu_look_sooner(struct vpmu *v);

/* Gives back those of these stopped hctrs that are fixed. */
void vpmu_fixed_release(struct vpmu *v, uint64_t hctrs);

/*
 * Sets a stopped hctr to its count, armed if one of these running counters, which are all that use
 * it, is near. Returns the hctr as a mask; 0: refused, and they are lost.
 */
static inline uint64_t vpmu_set(struct vpmu *v, hctr_t hctr, uint64_t users)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t bit = bit64(hctr.idx);
	bool armed = (users & v->near) != 0;

	/* What it is to hold it has held before: nothing need be noted. */
	if (((v->owned & bit) == 0 && !vpmu_port_prepare(hctr, &v->event[hctr.idx])) ||
	    vpmu_port_set(bit, h->count, armed) != 0) {
		v->owned &= ~bit;
		vpmu_lose(v, hctr);
		return 0;
	}
	h->ahead = 0;
	v->owned |= bit;
	if (armed)
		v->armed |= bit;
	return bit;
}

static inline void vpmu_stop(struct vpmu *v, uint64_t hctrs)
{
	vpmu_port_stop(hctrs);
	v->active &= ~hctrs;
	v->armed &= ~hctrs;
	/* Linux reads after it stops: where the value is still there, that read needs no exit. It
	 * is not, where the counter went on after its value was taken, or is HS's again. */
	if (v->careful)
		vpmu_careful_stopped(v, hctrs);
}

/* What runs now decides whether the guest may sleep in VS. */
static inline void vpmu_settle_wfi(struct vpmu *v)
{
	if (!v->wfi_traps && vpmu_wfi_must_trap(v)) {
		v->wfi_traps = true;
		vpmu_port_trap_wfi();
	}
}

static inline void vpmu_run(struct vpmu *v, uint64_t hctrs)
{
	v->active |= hctrs;
	vpmu_settle_wfi(v);
	vpmu_port_run(hctrs);
}

/* Tells the port which counters are direct, where that changed. */
static inline void vpmu_set_direct(struct vpmu *v, uint64_t direct)
{
	if (direct != v->direct) {
		v->direct = direct;
		vpmu_port_set_direct(direct);
	}
}

static inline void vpmu_update_direct(struct vpmu *v)
{
	vpmu_set_direct(v, v->shown & v->configured & v->openable);
}

static inline void vpmu_apply(struct vpmu *v, uint64_t hctrs, uint64_t stops, uint64_t ready)
{
	if (hctrs != 0) {
		vpmu_apply_all(v, hctrs, stops, ready);
		return;
	}
	if (stops != 0)
		vpmu_stop(v, stops);
	if (ready != 0)
		vpmu_run(v, ready);
	vpmu_update_direct(v);
	vpmu_raise_due(v);
}

#endif
