/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of vpmu/ say to each other. Every function takes checked arguments and, unless
 * marked "pure", is for the resident vcpu.
 *
 * The order in each call that may start or stop something:
 *   vpmu_take_overflows()   nothing may pend when the port starts or stops
 *   vpmu_join(), vpmu_leave(), vpmu_hctr_sync()   say what should be, touching no hardware
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
	return ((UINT64_C(1) << VPMU_FW_COUNTERS) - 1) << v->policy.fw_base;
}

static inline struct vpmu_ret vpmu_result(long error, unsigned long value)
{
	return (struct vpmu_ret){.error = error, .value = value};
}

/* info.c */

/*
 * The set that a base and mask name, as a mask of lctr. false: it has an invalid counter. An
 * empty mask names the empty set whatever the base: no counter in it is invalid. Pure.
 */
bool vpmu_counter_set(const struct vpmu *v, unsigned long base, unsigned long mask, uint64_t *set);

/* The value of a counter, in whatever state. */
uint64_t vpmu_value(const struct vpmu *v, lctr_t lctr);

/* event.c */

/*
 * Checks an event and brings it into the form in which events are compared. false: no counter
 * of this VM can count it. config_flags: only the filters matter. Pure.
 */
bool vpmu_event_parse(const struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                      unsigned long config_flags, struct vpmu_hw_config *event);
bool vpmu_event_is_fw(const struct vpmu_hw_config *event);
bool vpmu_event_equal(const struct vpmu_hw_config *a, const struct vpmu_hw_config *b);

/* What a configured counter counts. Pure. */
struct vpmu_hw_config vpmu_event_of(const struct vpmu *v, lctr_t lctr);

/* fw.c */

/* What has been counted of the firmware event that a counter is configured for; goes up only. */
uint64_t vpmu_fw_total(const struct vpmu *v, lctr_t lctr);

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
 * A counter of the set, not running, that can take the event, and what backs it. false: none.
 * Depends on nothing but this vcpu's own counters, its policy and the harts' fixed abilities.
 */
bool vpmu_assign(const struct vpmu *v, uint64_t set, const struct vpmu_hw_config *event,
                 struct vpmu_place *place);

/* Do configured counters of this vcpu use hctr for exactly this event and filter? Pure. */
bool vpmu_hctr_holds(const struct vpmu *v, hctr_t hctr, const struct vpmu_hw_config *event);

/* counter.c */

/* Unconfigures a counter that is not running; its value stays. Pure. */
void vpmu_forget(struct vpmu *v, lctr_t lctr);

/*
 * Marks a configured counter that is not running as running from its value; clears its OF.
 * Returns the hctr to apply, as a mask; 0 for a firmware counter.
 */
uint64_t vpmu_join(struct vpmu *v, lctr_t lctr);

/* Marks a running counter as stopped at its value. Returns as vpmu_join(). */
uint64_t vpmu_leave(struct vpmu *v, lctr_t lctr);

/* overflow.c */

/*
 * Will a hardware counter that starts at this value wrap within 2^62 counts, so that its wrap
 * must be told? Pure.
 */
bool vpmu_near(const struct vpmu *v, uint64_t value);

/*
 * Takes what pends off the hart and gives it to the counters it belongs to. Returns the hctrs
 * that must be applied because of it.
 */
uint64_t vpmu_take_overflows(struct vpmu *v);

/*
 * After the last counter was stopped: one that moves in HS may have made an LCOFI pend since
 * overflows were taken, and whoever starts counters next must not find it.
 */
void vpmu_drop_pending(const struct vpmu *v);

/*
 * Reads an hctr that this vcpu started and sets OF in each of its running counters that passed
 * zero since the last look.
 */
void vpmu_hctr_sync(struct vpmu *v, hctr_t hctr);

/*
 * Adds one to each running counter of an hctr, as an event would, and nothing to the hardware:
 * the hctr has to be applied if it is armed, and must have been synced then.
 */
void vpmu_hctr_step(struct vpmu *v, hctr_t hctr);

/* Raises LCOFI if a wrap was found since the last time. */
void vpmu_raise_due(struct vpmu *v);

/* anchor.c */

/*
 * Starts, moves and stops the given hctrs as their running counters need it, with at most one
 * stop and one start of the port; updates the direct set; raises LCOFI if due. Each that is
 * active must have been synced. Counters of an hctr that the hardware refuses become lost.
 */
void vpmu_apply(struct vpmu *v, uint64_t hctrs);

/* Tells the port which counters are direct, where that changed. */
void vpmu_update_direct(struct vpmu *v);

#endif
