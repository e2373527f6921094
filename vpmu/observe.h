/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observers: counters of a vcpu that are not its guest's. Each counts an event under a filter as a
 * counter of the guest would, and shares the hart's counter with the guest's own where these count
 * the same. The guest always wins: what it is answered and what it reads is what it would be
 * without observers, and one that is in its way ends. Only what reads cost may differ: a counter
 * of the guest's that is shared, or was while it stopped, may need an exit to be read.
 *
 * The functions are called by the hart where the vcpu is resident, or was last.
 */
#ifndef VPMU_OBSERVE_H
#define VPMU_OBSERVE_H

#include "vpmu/vpmu.h"

enum vpmu_observe {
	VPMU_OBSERVES,
	VPMU_OBSERVE_NO_EVENT, /* no counter of the hart counts it, or none does rightly for this VM
	                        */
	VPMU_OBSERVE_GUESTS,   /* the guest counts something else on the counter that could */
	VPMU_OBSERVE_OTHERS,   /* another observer does */
};

/*
 * Observer n, which is free, counts a hardware event from zero. config_flags: only the filters
 * matter. What the VM may count itself does not.
 */
enum vpmu_observe vpmu_observe(struct vpmu *v, bool resident, uint32_t n, uint32_t event_idx,
                               uint64_t event_data, unsigned long config_flags);

/* Observer n ends, if it has not. */
void vpmu_unobserve(struct vpmu *v, bool resident, uint32_t n);

/*
 * How many observer n has counted so far, modulo 2^width of the hart's counters, and whether
 * counters of its guest are configured on the same one. It has begun, and nothing has ended it.
 * false: the hart refuses its counter. Some 50 instructions; vpmu_describe() with VPMU_OBSERVER(n)
 * says more.
 */
bool vpmu_observed(const struct vpmu *v, uint32_t n, uint64_t *value, bool *shared);

#endif
