/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observers are counters of a vcpu that do not belong to its guest. Each counts an event with a
 * filter as a counter of the guest would. If a counter of the guest counts the same, both share the
 * hardware counter. The guest has priority: its calls and the values of its counters are the same
 * as without observers, and an observer ends if the guest needs its hardware counter. Only reads
 * may cost more: if a counter of the guest shares an hctr, or shared it when it was stopped, its
 * reads may need exits.
 *
 * An observer may sample: vpmu_port_sample() is called after each period of events. Its counter is
 * then always near its wrap: at the end of each period, the next period is subtracted from its
 * value.
 *
 * All functions are called on the hart where the vcpu is resident, or was last.
 */
#ifndef VPMU_OBSERVE_H
#define VPMU_OBSERVE_H

#include "vpmu/vpmu.h"

enum vpmu_observe {
	VPMU_OBSERVE_OK,
	/* No counter can count it, or none counts it correctly for this VM. */
	VPMU_OBSERVE_NO_EVENT,
	VPMU_OBSERVE_GUEST_USES, /* the guest counts another event on the counter */
	VPMU_OBSERVE_OTHER_USES, /* another observer counts another event on the counter */
	VPMU_OBSERVE_SILENT,     /* the counter of that event raises no interrupt */
};

/*
 * Starts observer n, which is free, on a hardware event from zero. Of config_flags only the filters
 * matter. Events that the VM may not count can be observed. period: the number of events before the
 * first sample, less than 2^62; 0 for no samples. A vcpu with count_hs or hart_flags must not be
 * sampled.
 */
enum vpmu_observe vpmu_observe(struct vpmu *v, bool resident, uint32_t n, uint32_t event_idx,
                               uint64_t event_data, unsigned long config_flags, uint64_t period);

/* Ends observer n, if it was not ended already. */
void vpmu_unobserve(struct vpmu *v, bool resident, uint32_t n);

/*
 * Reads observer n, which was started and not ended, modulo 2^width of the hart's counters. *shared
 * is whether counters of the guest are configured on the same hctr. Returns false if the hart has
 * refused the counter. This takes some 50 instructions; vpmu_describe() with VPMU_OBSERVER(n) tells
 * more.
 */
bool vpmu_observer_read(const struct vpmu *v, uint32_t n, uint64_t *value, bool *shared);

#endif
