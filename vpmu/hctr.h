/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of vpmu/ on hardware counters through the port: their owners, the values at which they
 * run, and their wraps. All functions are for the resident vcpu.
 */
#ifndef VPMU_HCTR_H
#define VPMU_HCTR_H

#include "vpmu/internal.h"
#include "vpmu/retired.h"

/* config.c */

/* Whether the hart's counter holds this event and filter for this vcpu. Has no side effects. */
static inline bool vpmu_holds(const struct vpmu *v, hctr_t hctr, const struct hw_event *event)
{
	return (v->owned >> hctr.idx & 1) != 0 && hw_event_equal(&v->event[hctr.idx], event);
}

/*
 * Makes an idle hctr hold an event and filter, independent of its contents. Returns false if the
 * hardware refuses; then it holds nothing of this vcpu.
 */
bool vpmu_hold(struct vpmu *v, hctr_t hctr, const struct hw_event *event);

/* Records what an hctr holds, or will hold when it is set. Does not touch the hardware. */
void vpmu_note_event(struct vpmu *v, hctr_t hctr, const struct hw_event *event);

/* config_matching for a checked set of counters, without moves. */
struct sbi_ret vpmu_config_here(struct vpmu *v, uint64_t set, unsigned long config_flags,
                                unsigned long event_idx, uint64_t event_data);

/* observe.c */

/*
 * Ends the observers on an hctr that the guest needs, and reports their values. No running counter
 * of the guest uses the hctr. Returns the hctr if it runs and must be stopped. Called after
 * vpmu_take_overflows().
 */
uint64_t vpmu_end_observers(struct vpmu *v, hctr_t hctr);

/* A running observer that samples has wrapped: begins its next period. The hctr must be applied
 * afterwards. */
void vpmu_begin_period(struct vpmu *v, hctr_t hctr, uint32_t idx);

/* The armed hctr has overflowed. If an observer is its only user, does the same in fewer
 * instructions, starts the hctr again and returns true. Otherwise returns false. */
bool vpmu_begin_period_fast(struct vpmu *v, hctr_t hctr);

/*
 * Called before and after an observer or the budget begins or ends to use an hctr. The first reads
 * the count of the hctr. The second sets the hctr again for all running counters, now or when the
 * vcpu comes back; `flagged` is the result of the first. `resident`: whether the vcpu is resident;
 * if not, it was last on this hart.
 */
uint64_t vpmu_users_change_begin(struct vpmu *v, bool resident, hctr_t hctr);
void vpmu_users_change_end(struct vpmu *v, bool resident, hctr_t hctr, uint64_t flagged);

/* budget.c */

/* Configures the budget's counter, which does not run yet, in an empty PMU. */
void vpmu_budget_configure(struct vpmu *v);

/* room.c: makes room for one more event on harts where several hctrs can count an event */

enum vpmu_room {
	VPMU_NO_ROOM,   /* no moves make room, or the hardware refused one of them */
	VPMU_ROOM,      /* one of the hctrs has room now */
	VPMU_MORE_ROOM, /* make the same call again, after another exit */
};

/*
 * Moves events until one of `hctrs` has room for one more. If that makes room, one of the stopped
 * counters in `droppable` loses its configuration.
 */
enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs, uint64_t droppable);

/* overflow.c */

/*
 * Whether a hardware counter that starts at this value wraps within 2^62 counts, so that the wrap
 * must be reported. Has no side effects.
 */
static inline bool vpmu_near(const struct vpmu *v, uint64_t value)
{
	return v->value_mask - value < v->near_span;
}

/* Records the overflow flags of armed hctrs for the counters that they belong to. */
void vpmu_give_overflows(struct vpmu *v, uint64_t flagged);

/*
 * Takes a pending LCOFI, and records the overflows for the counters that they belong to. Returns
 * the hctrs that must be applied afterwards, usually none.
 */
static inline uint64_t vpmu_take_overflows(struct vpmu *v)
{
	uint64_t flagged = vpmu_port_take_overflow(v->armed) & v->armed;

	if (flagged != 0)
		vpmu_give_overflows(v, flagged);
	return flagged;
}

/*
 * Called after the last counter was stopped. A counter that counts HS may have raised an LCOFI
 * since the last vpmu_take_overflows(); the next vcpu must not get it.
 */
void vpmu_drop_pending(const struct vpmu *v);

/* Finds those of these counters that have wrapped since the count of their hctr was `before`, and
 * sets their OF. Returns whether there were any. */
bool vpmu_find_wraps(struct vpmu *v, hctr_t hctr, uint64_t before, uint64_t lctrs);

/*
 * Reads an hctr that this vcpu started, and sets OF of each of its running counters that has
 * wrapped since the last read. Returns whether there were any.
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
 * Adds one to an hctr, as an event would, without touching the hardware. If one of its counters is
 * near its wrap, the hctr must have been synced before, and must be applied afterwards.
 */
void vpmu_hctr_step(struct vpmu *v, hctr_t hctr);

/* Raises LCOFI if a wrap was found since the last call. */
static inline void vpmu_raise_due(struct vpmu *v)
{
	if (v->lcofi_due) {
		v->lcofi_due = false;
		vpmu_port_raise_lcofi();
	}
}

/* anchor.c */

/*
 * Starts, moves and stops these hctrs as their running counters require, usually with one stop and
 * one start of the port. Updates direct reads, and raises LCOFI if a wrap was found. Each of
 * `hctrs` that is active must have been synced. If the hardware refuses an hctr, its counters are
 * lost. `stops` are active hctrs without a running counter, and `ready` are hctrs that vpmu_set()
 * has set; both need no decision.
 */
void vpmu_apply_all(struct vpmu *v, uint64_t hctrs, uint64_t stops, uint64_t ready);

/* The hardware has refused an hctr. Its running counters become lost. */
void vpmu_lose(struct vpmu *v, hctr_t hctr);

/* fixed.c */

/* For a vcpu with `needs_slow_path`: vpmu_slow_path_after_stop() is called after these hctrs were
 * stopped, vpmu_slow_path_before_start() before they are started. The latter returns hctrs that
 * must be applied as well. */
void vpmu_slow_path_after_stop(struct vpmu *v, uint64_t hctrs);
uint64_t vpmu_slow_path_before_start(struct vpmu *v, uint64_t hctrs);

/* vpmu_end_polling() ends polling when the vcpu leaves the hart or is reset. vpmu_resume_polling()
 * resumes it when the vcpu has come back. */
void vpmu_end_polling(struct vpmu *v);
void vpmu_resume_polling(struct vpmu *v);

/* Requests an earlier poll. Called while a poll is requested, after emulated instructions were
 * added to the counts of polled hctrs. */
void vpmu_poll_sooner(struct vpmu *v);

/* Gives the fixed hctrs among these stopped ones back to HS. */
void vpmu_fixed_release(struct vpmu *v, uint64_t hctrs);

/*
 * Sets a stopped hctr to its count, armed if one of `users` is near its wrap. `users` are all
 * running counters on it. Returns the hctr as a mask. Returns 0 if another vcpu has used the hctr
 * and the hardware refuses to hold the event again; then they are lost.
 */
static inline uint64_t vpmu_set(struct vpmu *v, hctr_t hctr, uint64_t users)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t bit = bit64(hctr.idx);
	bool armed = (users & v->near) != 0;

	/* The hctr held this event before, so vpmu_note_event() has recorded it. */
	if ((v->owned & bit) == 0 && !vpmu_port_prepare(hctr, &v->event[hctr.idx])) {
		vpmu_lose(v, hctr);
		return 0;
	}
	vpmu_port_set(bit, h->count, armed);
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
	/* Linux reads a counter after it has stopped it. This read needs no exit if the hctr still
	 * has the counter's value. It does not have it if the counter counts HS, or was given back
	 * to HS. */
	if (v->needs_slow_path)
		vpmu_slow_path_after_stop(v, hctrs);
}

/* Updates whether WFI must trap, after the set of running counters has changed. */
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

static inline void vpmu_update_direct(struct vpmu *v)
{
	vpmu_set_direct(v, v->in_step & v->configured & v->openable);
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
