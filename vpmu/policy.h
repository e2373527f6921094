/* SPDX-License-Identifier: Apache-2.0 */
/* The features of a VM's virtual PMU: made once, at boot. */
#ifndef VPMU_POLICY_H
#define VPMU_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"
#include "vpmu/selector.h"

#define VPMU_HW_COUNTERS 32U /* lctr 0..31: same index and CSR as the hart's counter */
#define VPMU_FW_COUNTERS 16U /* they follow the highest hardware counter of the hart */
#define VPMU_COUNTERS    64U
#define VPMU_OBSERVERS   8U /* counters of the operator, see observe.h */
#define VPMU_FW_EVENTS   22U
/* The lctr of an observer, above all that a guest can name. */
#define VPMU_OBSERVER(n) (VPMU_COUNTERS - VPMU_OBSERVERS + (n))
/* The lctr of the budget, see budget.h: below those of the observers. */
#define VPMU_BUDGET (VPMU_COUNTERS - VPMU_OBSERVERS - 1)

/* An event that can be counted, found at boot or when it was first asked for. Private to vpmu/. */
struct vpmu_known {
	uint32_t event_idx; /* type 0 or 1; 0: none */
	uint32_t hctrs;     /* hctrs that can count it, of those that the VM has; never 0 */
	uint32_t home;      /* index of its home counter, both lctr and hctr; 0: it has none */
};
#define VPMU_KNOWN 16U

/*
 * The event table of this core, which limits the counters that can count an event, and the raw
 * events that a VM may count besides those of its policy. It is not part of the policy, because the
 * policy is in front of the counters, which must be within 2 KiB of the start of their vcpu.
 */
struct vpmu_table {
	const struct selectors *selectors;
	const struct selector_allowed *allowed;
	uint32_t n_allowed;
};

/* The VM tree's properties of a VM's PMU, and the features of the harts that it may run on.
 * Constant. */
struct vpmu_policy {
	uint64_t hctrs;   /* hardware counters that the VM has; bit 1 (time) is 0 */
	uint32_t fw_base; /* counter_idx of the first firmware counter, <= 39 */
	uint32_t width;   /* width of every hardware counter, 1..64 bits */

	/*
	 * Firmware events that this machine counts exactly, as disjoint masks of codes 0..21: those
	 * that vpmu_fw_event() reports, and those whose total vpmu_port_fw_total() returns. The
	 * latter also returns the totals of codes 256 .. 256 + n_tally_events - 1.
	 */
	uint32_t fw_events;
	uint32_t fw_port_events;
	uint32_t n_tally_events;

	uint32_t n_events; /* of `events` */

	/*
	 * The event_idx values that this VM may count; NULL: all. An event of type 0, 1 or 15 is
	 * listed with its exact event_idx; 0x20000 and 0x30000 stand for all raw events of their
	 * type.
	 */
	const uint32_t *events;

	const struct vpmu_table *table; /* NULL: the hart alone decides */

	/* VPMU_KNOWN entries that vpmu_know() has filled in. NULL: events are looked up when they
	 * are first asked for. */
	const struct vpmu_known *known;

	bool overflow;   /* virtual LCOFI works for this VM */
	bool trap_reads; /* no direct reads */
	bool snapshot;   /* the VM has snapshots (FID 7) */
	bool count_hs;   /* work of HS for the vcpu counts as VS: see HW_COUNT_HS */
	/* A stop and a start of the port take few instructions, or are needed in any case. */
	bool cheap_moves;
	bool steps; /* vpmu_port_step() exists */

	/* Several hctrs count one event, and an event may move between them while it is counted.
	 * Not with count_hs or hart_flags. */
	bool moves;

	/*
	 * The guest reads the hart's OF bits itself, so each counter needs the hctr of its own
	 * index for itself.
	 */
	bool hart_flags;

	/*
	 * The guest reads those OF bits of the hart whose counters it may read directly; others are
	 * 0. See shown.h. Not with trap_reads, count_hs or hart_flags.
	 */
	bool shows_flags;

	/* Overflow of cache events raises no interrupt on the hart, so it is polled. */
	bool polled_cache;

	/* A WFI in VS that does not trap makes other counts than cycles wrong. */
	bool wfi_recounts;
	/* WFI never traps, and counts as cycles while it lasts. Events that it makes wrong are
	 * refused. */
	bool idle_cycles;

	/* The vcpus have budgets of budget_event (type 0 or 1), which this hctr counts from boot
	 * on; 0 if they have none. Not with count_hs or hart_flags. See budget.h. */
	uint8_t budget_hctr;
	uint32_t budget_event;
};

/* Whether a VM with this policy has the firmware event with this code. */
static inline bool vpmu_fw_event_exists(const struct vpmu_policy *policy, uint32_t code)
{
	if (code < VPMU_FW_EVENTS)
		return ((policy->fw_events | policy->fw_port_events) & 1U << code) != 0;
	return code >= SBI_PMU_FW_IMPL_FIRST && code < SBI_PMU_FW_PLATFORM &&
	       code - SBI_PMU_FW_IMPL_FIRST < policy->n_tally_events;
}

/*
 * Enters a standard event (type 0 or 1) into `known`, with the hctrs that vpmu_port_event_hctrs()
 * would return on each hart of the VM. At boot, when the rest of the policy is set; known is all 0
 * at first.
 */
void vpmu_know(const struct vpmu_policy *policy, struct vpmu_known known[VPMU_KNOWN],
               uint32_t event_idx, uint64_t hctrs);

#endif
