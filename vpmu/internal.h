/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of vpmu/ say to each other. Every function takes checked arguments and, unless
 * marked "pure", is for the resident vcpu.
 *
 * The order in each call that may start or stop something:
 *   vpmu_take_overflows()   nothing may pend when the port starts or stops
 *   sets of counters, counts and offsets    say what should be, touching no hardware
 *   vpmu_apply()            makes the hardware so, and raises what was found on the way
 */
#ifndef VPMU_INTERNAL_H
#define VPMU_INTERNAL_H

#include "vpmu/bits.h"
#include "vpmu/vpmu.h"

static inline uint64_t vpmu_hw_lctrs(const struct vpmu *v)
{
	return v->policy.hctrs;
}

static inline uint64_t vpmu_fw_lctrs(const struct vpmu *v)
{
	return v->fw_lctrs;
}

static inline struct sbi_ret vpmu_result(long error, unsigned long value)
{
	return (struct sbi_ret){.error = error, .value = value};
}

/* info.c */

/*
 * The set that a base and mask name, as a mask of lctr. false: it has an invalid counter. An
 * empty mask names the empty set whatever the base: no counter in it is invalid. Pure.
 */
static inline bool vpmu_counter_set(const struct vpmu *v, unsigned long base, unsigned long mask,
                                    uint64_t *set)
{
	uint64_t wanted = (uint64_t)mask << base % VPMU_COUNTERS;

	*set = wanted;
	/* Bits shifted out are counters that nobody has. */
	if (base < VPMU_COUNTERS && wanted >> base == mask && (wanted & ~v->all_lctrs) == 0)
		return true;
	*set = 0;
	return mask == 0;
}

/* The value of a counter, in whatever state. */
uint64_t vpmu_value(const struct vpmu *v, lctr_t lctr);

/* event.c */

/*
 * Checks an event and brings it into the form in which events are compared. *hctrs: those granted
 * that can count it, 0 for a firmware event. false: no counter of this VM can count it.
 * config_flags: only the filters matter.
 */
bool vpmu_event_parse(struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                      unsigned long config_flags, struct vpmu_hw_config *event, uint64_t *hctrs);

/* Where an event is remembered: the standard ones of types 0 and 1 have places of their own. */
static inline struct vpmu_known *vpmu_known_place(struct vpmu *v, unsigned long event_idx)
{
	return &v->known[(event_idx ^ event_idx >> 16) % VPMU_KNOWN];
}

/*
 * The guest's S and U are VS and VU. It has no modes of its own below them, so VUINH, VSINH and
 * MINH filter nothing (Linux sets the first two for every exclude_guest event).
 */
static inline uint32_t vpmu_reduced_filter(const struct vpmu *v, unsigned long config_flags)
{
	uint32_t inhibit = 0;

	if ((config_flags & SBI_PMU_CFG_FLAG_SET_UINH) != 0)
		inhibit |= VPMU_INH_VU;
	if ((config_flags & SBI_PMU_CFG_FLAG_SET_SINH) != 0)
		inhibit |= VPMU_INH_VS;
	else if (v->policy.count_hs)
		inhibit |= VPMU_COUNT_HS;
	return inhibit;
}

static inline bool vpmu_event_is_raw(uint32_t event_idx)
{
	return SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW ||
	       SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW_V2;
}

static inline bool vpmu_event_is_fw(const struct vpmu_hw_config *event)
{
	return SBI_PMU_EVENT_TYPE(event->event_idx) == SBI_PMU_TYPE_FW;
}

static inline bool vpmu_event_equal(const struct vpmu_hw_config *a, const struct vpmu_hw_config *b)
{
	return a->event_idx == b->event_idx && a->inhibit == b->inhibit &&
	       a->event_data == b->event_data;
}

/* fw.c */

/* What has been counted of the firmware event that a counter is configured for; goes up only. */
static inline uint64_t vpmu_fw_total(const struct vpmu *v, lctr_t lctr)
{
	const struct vpmu_counter *c = &v->counter[lctr.idx];

	if (c->hctr < VPMU_FW_EVENTS)
		return v->fw_total[c->hctr];
	return vpmu_port_fw_total(SBI_PMU_EVENT_CODE(c->event_idx));
}

/* Where the total of a firmware event is, see struct vpmu_counter. */
static inline uint32_t vpmu_fw_place(const struct vpmu *v, uint32_t event_idx)
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	return code < VPMU_FW_EVENTS && (v->policy.fw_events >> code & 1) != 0 ? code
	                                                                       : VPMU_FW_EVENTS;
}

/* Tells the port which of its firmware events are counted, where that changed. */
void vpmu_fw_update_watch(struct vpmu *v);

/* snapshot.c: for those who have seen snapshot_set. slot: counter less base, 0..63. */

uint64_t vpmu_snapshot_value(const struct vpmu *v, uint32_t slot);

/* Writes the values of the set, a checked one with this base, and the overflow bitmap. */
void vpmu_snapshot_take(const struct vpmu *v, uint64_t set, unsigned long base);

/* assign.c */

/* Where config_matching puts an event. hctr: hardware events only. */
struct vpmu_place {
	lctr_t lctr;
	hctr_t hctr;
};

/*
 * A counter of the set, not running, that can take the event, and which of hctrs backs it. false:
 * none. Depends on nothing but this vcpu's own counters, its policy and the harts' fixed
 * abilities. Pure.
 */
bool vpmu_assign(const struct vpmu *v, uint64_t set, const struct vpmu_hw_config *event,
                 uint64_t hctrs, struct vpmu_place *place);

/* config.c */

/* Does the hart's counter hold an event and filter for this vcpu? Pure. */
static inline bool vpmu_holds(const struct vpmu *v, hctr_t hctr, const struct vpmu_hw_config *event)
{
	return (v->owned >> hctr.idx & 1) != 0 && vpmu_event_equal(&v->hctr[hctr.idx].event, event);
}

/*
 * Makes an idle hctr hold an event and filter, whatever it held. false: the hardware refused, and it
 * holds nothing of this vcpu's.
 */
bool vpmu_hold(struct vpmu *v, hctr_t hctr, const struct vpmu_hw_config *event);

/* counter.c */

/* Unconfigures counters that are not running; their values stay. Pure. */
void vpmu_forget(struct vpmu *v, uint64_t set);

/* Is the lctr of this index alone on the hctr? To be asked when that may have changed. Pure. */
static inline void vpmu_note_solo(struct vpmu *v, hctr_t hctr)
{
	uint64_t bit = bit64(hctr.idx);

	if ((v->running & bit) == 0)
		v->counter[hctr.idx].offset = 0;
	/* One that counts HS moves while vpmu/ works on it, and takes the long way always. */
	if (v->hctr[hctr.idx].users == bit && (v->lost & bit) == 0 && !v->policy.count_hs &&
	    v->counter[hctr.idx].offset == 0)
		v->solo |= bit;
	else
		v->solo &= ~bit;
}

enum vpmu_start_from {
	VPMU_FROM_KEPT,     /* the counter's own value */
	VPMU_FROM_GIVEN,    /* arg */
	VPMU_FROM_SNAPSHOT, /* its slot; arg: the counter of slot 0 */
};

/*
 * Starts configured counters that are not running, and clears their OF. Those that the hardware
 * refuses are lost then. hctrs: to be applied besides.
 */
void vpmu_start_set(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg,
                    uint64_t hctrs);

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

/*
 * Reads an hctr that this vcpu started and sets OF in each of its running counters that passed
 * zero since the last look. Were there any?
 */
bool vpmu_hctr_sync(struct vpmu *v, hctr_t hctr);

/*
 * Adds one to each running counter of an hctr, as an event would, and nothing to the hardware:
 * the hctr has to be applied if it is armed, and must have been synced then.
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
	if (((v->owned & bit) == 0 && !vpmu_port_prepare(hctr, &h->event)) ||
	    vpmu_port_set(bit, h->count, armed) != 0) {
		v->owned &= ~bit;
		vpmu_lose(v, hctr);
		return 0;
	}
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
	/* Linux reads after it stops: where the value is still there, that read needs no exit. It is
	 * not, where the counter went on after its value was taken. */
	if (v->policy.count_hs)
		v->shown &= ~(hctrs & ~v->running);
}

static inline void vpmu_run(struct vpmu *v, uint64_t hctrs)
{
	v->active |= hctrs;
	vpmu_port_run(hctrs);
}

/* Tells the port which counters are direct, where that changed. */
static inline void vpmu_update_direct(struct vpmu *v)
{
	uint64_t direct = v->shown & v->openable;

	if (direct != v->direct) {
		v->direct = direct;
		vpmu_port_set_direct(direct);
	}
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
