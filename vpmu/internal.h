/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the files of vpmu/ share. Arguments have been checked. Unless a comment says "no
 * side effects", a function is for the resident vcpu.
 *
 * Each call that may start or stop something has this order:
 *   vpmu_take_overflows()   no overflow may be pending when the port starts or stops
 *   sets of counters, counts and offsets    are changed without touching the hardware
 *   vpmu_apply()            changes the hardware, and raises LCOFI for wraps that were found
 */
#ifndef VPMU_INTERNAL_H
#define VPMU_INTERNAL_H

#include "vpmu/bits.h"
#include "vpmu/tally_events.h"
#include "vpmu/vpmu.h"

/* A set of lctr. */
#define VPMU_OBSERVER_LCTRS ((bit64(VPMU_OBSERVERS) - 1) << VPMU_OBSERVER(0))

/* A set of lctr: those that have a bit in scountovf. */
#define VPMU_SHOWABLE (~UINT64_C(7) & UINT32_MAX)

/* Users of an hctr that are not the guest's. */
#define VPMU_HOST_USERS (VPMU_OBSERVER_LCTRS | VPMU_HS_USES)

static inline struct sbi_ret vpmu_result(long error, unsigned long value)
{
	return (struct sbi_ret){.error = error, .value = value};
}

/* Returns an error without a value. */
static inline vpmu_answer vpmu_error(long error)
{
	return (unsigned long)error;
}

/* info.c */

/*
 * Turns counter_idx_base and counter_idx_mask into a mask of lctr. Returns false if a counter is
 * invalid. An empty mask is valid with any base, because it names no counter. No side effects.
 */
static inline bool vpmu_counter_set(const struct vpmu *v, unsigned long base, unsigned long mask,
                                    uint64_t *set)
{
	uint64_t wanted = (uint64_t)mask << base % VPMU_COUNTERS;

	*set = wanted;
	/* Bits that were shifted out would be counters that do not exist. */
	if (base < VPMU_COUNTERS && wanted >> base == mask && (wanted & ~v->all_lctrs) == 0)
		return true;
	*set = 0;
	return mask == 0;
}

/* Does the same without checking whether the counters exist. Returns 0 if one of them has an index
 * above 63. */
static inline uint64_t vpmu_named(unsigned long base, unsigned long mask)
{
	uint64_t set = (uint64_t)mask << base % VPMU_COUNTERS;

	return base < VPMU_COUNTERS && set >> base == mask ? set : 0;
}

/* Returns the value of a counter in any state. */
uint64_t vpmu_value(const struct vpmu *v, lctr_t lctr);

/* event.c */

/*
 * Checks an event and normalizes it for comparison. *hctrs becomes the hctrs that the VM may use
 * for it, 0 for a firmware event. Returns false if no counter of this VM can count it. Only the
 * filters of config_flags matter.
 */
bool vpmu_event_parse(struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                      unsigned long config_flags, struct hw_event *event, uint64_t *hctrs);

/*
 * Returns the programmable hctrs that can count a hardware event, including those that the guest
 * may not use, and normalizes the event for comparison. 0: none, or the event does not exist.
 */
uint64_t vpmu_event_hctrs(const struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                          unsigned long config_flags, struct hw_event *event);

/* Returns the counters that count an existing event by the event table of the core: all, if there
 * is none. */
uint64_t vpmu_table_hctrs(const struct vpmu_policy *policy, uint32_t event_idx,
                          uint64_t event_data);

/* Returns the programmable hctrs that can count the event of a configured hctr. No side effects. */
uint64_t vpmu_movable(const struct vpmu *v, hctr_t hctr);

/* Returns the index of an event in the table of known events. The standard events of types 0 and 1
 * have different indices. */
static inline uint32_t vpmu_known_index(unsigned long event_idx)
{
	return (event_idx ^ event_idx >> 16) % VPMU_KNOWN;
}

/*
 * The guest's S and U are VS and VU. The guest has no virtual modes below them, so VUINH, VSINH and
 * MINH have no effect. (Linux sets the first two for every exclude_guest event.)
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

/* Whether the overflow of a counter of this event raises no interrupt. */
static inline bool vpmu_is_silent(const struct vpmu *v, uint32_t event_idx)
{
	return v->policy.polled_cache && SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_CACHE;
}

static inline bool vpmu_event_is_fw(const struct hw_event *event)
{
	return SBI_PMU_EVENT_TYPE(event->event_idx) == SBI_PMU_TYPE_FW;
}

/* fw.c */

/* Returns the total of the firmware event for which a counter is configured. It never decreases. */
static inline uint64_t vpmu_fw_total(const struct vpmu *v, lctr_t lctr)
{
	const struct vpmu_counter *c = &v->counter[lctr.idx];

	if (c->hctr < VPMU_FW_EVENTS)
		return v->fw_total[c->hctr];
	return vpmu_port_fw_total(SBI_PMU_EVENT_CODE(c->event_idx));
}

/* Returns the value of `hctr` in struct vpmu_counter for a firmware event: the index of its
 * total. */
static inline uint32_t vpmu_fw_place(const struct vpmu *v, uint32_t event_idx)
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	return code < VPMU_FW_EVENTS && (v->policy.fw_events >> code & 1) != 0 ? code
	                                                                       : VPMU_FW_EVENTS;
}

/* Tells the port which of its firmware events are counted, if that has changed. */
void vpmu_fw_update_watch(struct vpmu *v);

/* snapshot.c. The callers have checked snapshot_set. A slot is a counter's index less base,
 * 0..63. */

uint64_t vpmu_snapshot_value(const struct vpmu *v, uint32_t slot);

/* Writes the values of the counters in `set`, which was checked with this base, and the overflow
 * bitmap. */
void vpmu_snapshot_take(const struct vpmu *v, uint64_t set, unsigned long base);

/* assign.c */

/* The counter that config_matching chooses. hctr is for hardware events only. */
struct vpmu_place {
	lctr_t lctr;
	hctr_t hctr;
};

/*
 * Chooses a counter in `set` that is not running and can count the event, and the one of `hctrs`
 * behind it. Returns false if there is none. The result depends only on this vcpu's own counters,
 * its policy, and the harts' fixed features. No side effects.
 */
bool vpmu_assign(const struct vpmu *v, uint64_t set, const struct hw_event *event, uint64_t hctrs,
                 struct vpmu_place *place);

/* Returns those of these counters that may be given a hardware event. */
uint64_t vpmu_takers(const struct vpmu *v, uint64_t set, const struct hw_event *event);

/* fixed.c */

/* Whether a counter is configured for an event that HS counts with instret. Then HS cannot lend
 * instret. No side effects. */
bool vpmu_hs_clock_wanted(const struct vpmu *v);

/* counter.c */

/* Unconfigures counters that are not running. Their values are kept. Does not touch the
 * hardware. */
void vpmu_forget(struct vpmu *v, uint64_t set);

/* Updates whether the lctr of this index is `solo`. Called when that may have changed. Does not
 * touch the hardware. */
static inline void vpmu_note_solo(struct vpmu *v, hctr_t hctr)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t bit = bit64(hctr.idx);

	if ((v->running & bit) == 0)
		v->counter[hctr.idx].offset = 0;
	/* The hctr will be set before it runs again. */
	if ((h->users & v->running) == 0)
		h->ahead = 0;
	/* A counter that counts HS moves while vpmu/ works on it, so it never takes the fast
	 * path. */
	put_bits(&v->solo, bit,
	         h->users == bit && (v->lost & bit) == 0 && !v->policy.count_hs &&
	             v->counter[hctr.idx].offset == 0);
}

static inline bool vpmu_is_fw(const struct vpmu *v, lctr_t lctr)
{
	return (v->fw_lctrs >> lctr.idx & 1) != 0;
}

/* Whether a counter of this vcpu uses the hctr. */
static inline bool vpmu_is_used(const struct vpmu *v, hctr_t hctr)
{
	return (v->hctr[hctr.idx].users & ~VPMU_HS_USES) != 0;
}

/* Whether the count of an hctr with a running counter is the one that was read last. It is not if
 * the hctr has run since. If another vcpu took the hctr, the count was read then. */
static inline bool vpmu_is_current(const struct vpmu *v, hctr_t hctr)
{
	return ((v->active | (v->parked & v->owned)) & bit64(hctr.idx)) == 0;
}

/* Whether a configured hardware counter is the only user of its hctr. It is then the anchor. */
static inline bool vpmu_is_alone(const struct vpmu *v, lctr_t lctr)
{
	return v->hctr[v->counter[lctr.idx].hctr].users == bit64(lctr.idx);
}

/* shown.c */

/* Returns the hctrs on which the guest sees OF of a counter, or will when it wraps. They have no
 * other user. Bits above 31 have no meaning. No side effects. */
static inline uint64_t vpmu_shown_hctrs(const struct vpmu *v)
{
	return v->policy.shows_flags ? (v->near | v->overflow) & ~UINT64_C(7) : 0;
}

/* With shows_flags, called before the stopped counters in `set` are started near their wraps. Ends
 * the observers that share their hctrs. Returns the counters whose OF could not be shown, because
 * they share an hctr with another counter of the guest, or their hctr has another index. */
uint64_t vpmu_not_showable(struct vpmu *v, uint64_t set);

/* The hardware has refused the hctr. If it was to show OF = 1 of a stopped counter, that counter
 * becomes lost: the guest would see OF = 0, as if there had been no overflow. */
void vpmu_stop_showing(struct vpmu *v, hctr_t hctr);

/* start.c */

enum vpmu_start_from {
	VPMU_FROM_KEPT,     /* the counter's own value */
	VPMU_FROM_GIVEN,    /* the value in arg */
	VPMU_FROM_SNAPSHOT, /* the counter's snapshot slot; arg is the counter of slot 0 */
};

/*
 * Starts configured counters that are not running, and clears their OF. Counters that the hardware
 * refuses become lost. Returns those that were not started, because the guest would not see their
 * OF: see vpmu_not_showable().
 */
uint64_t vpmu_start_set(struct vpmu *v, uint64_t set, enum vpmu_start_from from, uint64_t arg);

#endif
