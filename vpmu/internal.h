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
#include "vpmu/tally_events.h"
#include "vpmu/vpmu.h"

static inline uint64_t vpmu_hw_lctrs(const struct vpmu *v)
{
	return v->policy.hctrs;
}

/* Sets of lctr. */
#define VPMU_OBSERVER_LCTRS ((bit64(VPMU_OBSERVERS) - 1) << VPMU_OBSERVER(0))

/* Users of an hctr that the guest does not know of. */
#define VPMU_NOT_THE_GUESTS (VPMU_OBSERVER_LCTRS | VPMU_HS_USES)

static inline uint64_t vpmu_fw_lctrs(const struct vpmu *v)
{
	return v->fw_lctrs;
}

static inline struct sbi_ret vpmu_result(long error, unsigned long value)
{
	return (struct sbi_ret){.error = error, .value = value};
}

/* An answer without a value. */
static inline vpmu_answer vpmu_error(long error)
{
	return (unsigned long)error;
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

/* The set that a base and mask name, whether or not there are such counters; 0: there are not. */
static inline uint64_t vpmu_named(unsigned long base, unsigned long mask)
{
	uint64_t set = (uint64_t)mask << base % VPMU_COUNTERS;

	return base < VPMU_COUNTERS && set >> base == mask ? set : 0;
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
                      unsigned long config_flags, struct hw_event *event, uint64_t *hctrs);

/*
 * The programmable hctrs that can count a hardware event, whatever of this is the guest's; the
 * event in the form in which events are compared. 0: none, or the event does not exist.
 */
uint64_t vpmu_event_hctrs(const struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                          unsigned long config_flags, struct hw_event *event);

/* Where an event is remembered: the standard ones of types 0 and 1 have places of their own. */
static inline uint32_t vpmu_known_index(unsigned long event_idx)
{
	return (event_idx ^ event_idx >> 16) % VPMU_KNOWN;
}

static inline struct vpmu_known *vpmu_known_place(struct vpmu *v, unsigned long event_idx)
{
	return &v->known[vpmu_known_index(event_idx)];
}

/*
 * The guest's S and U are VS and VU. It has no modes of its own below them, so VUINH, VSINH and
 * MINH filter nothing (Linux sets the first two for every exclude_guest event).
 */
static inline uint32_t vpmu_reduced_filter(const struct vpmu *v, unsigned long config_flags)
{
	uint32_t inhibit = 0;

	if ((config_flags & SBI_PMU_CFG_FLAG_SET_UINH) != 0)
		inhibit |= HW_INH_VU;
	if ((config_flags & SBI_PMU_CFG_FLAG_SET_SINH) != 0)
		inhibit |= HW_INH_VS;
	else if (v->policy.count_hs)
		inhibit |= HW_COUNT_HS;
	return inhibit;
}

static inline bool vpmu_event_is_fw(const struct hw_event *event)
{
	return SBI_PMU_EVENT_TYPE(event->event_idx) == SBI_PMU_TYPE_FW;
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
bool vpmu_assign(const struct vpmu *v, uint64_t set, const struct hw_event *event, uint64_t hctrs,
                 struct vpmu_place *place);

/* fixed.c */

/* Are these firmware events counted by it? */
static inline bool vpmu_is_by_hs_clock(uint32_t event_idx)
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	return code == TALLY_EVENT_HS_INSTRUCTIONS || code == TALLY_EVENT_LONGEST_STAY;
}

/* Is a counter configured for one of them? It has to stay HS's, then. Pure. */
bool vpmu_hs_clock_wanted(const struct vpmu *v);

/* counter.c */

/* Unconfigures counters that are not running; their values stay. Pure. */
void vpmu_forget(struct vpmu *v, uint64_t set);

/* Is the lctr of this index alone on the hctr? To be asked when that may have changed. Pure. */
static inline void vpmu_note_solo(struct vpmu *v, hctr_t hctr)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t bit = bit64(hctr.idx);

	if ((v->running & bit) == 0)
		v->counter[hctr.idx].offset = 0;
	/* It will be set before it runs again. */
	if ((h->users & v->running) == 0)
		h->ahead = 0;
	/* One that counts HS moves while vpmu/ works on it, and takes the long way always. */
	if (h->users == bit && (v->lost & bit) == 0 && !v->policy.count_hs &&
	    v->counter[hctr.idx].offset == 0)
		v->solo |= bit;
	else
		v->solo &= ~bit;
}

static inline bool vpmu_is_fw(const struct vpmu *v, lctr_t lctr)
{
	return (v->fw_lctrs >> lctr.idx & 1) != 0;
}

/* Does a counter of this vcpu's use it? */
static inline bool vpmu_is_used(const struct vpmu *v, hctr_t hctr)
{
	return (v->hctr[hctr.idx].users & ~VPMU_HS_USES) != 0;
}

/* Is a configured hardware counter the only one of its hctr? It is its anchor then. */
static inline bool vpmu_is_alone(const struct vpmu *v, lctr_t lctr)
{
	return v->hctr[v->counter[lctr.idx].hctr].users == bit64(lctr.idx);
}

/* start.c */

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

#endif
