/* SPDX-License-Identifier: Apache-2.0 */
/* What a VM's virtual PMU has: made once, at boot. */
#ifndef VPMU_POLICY_H
#define VPMU_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"
#include "vpmu/selector.h"

#define VPMU_HW_COUNTERS 32U /* lctr 0..31: same index and CSR as the hart's counter */
#define VPMU_FW_COUNTERS 16U /* follow the highest hardware counter of the hart */
#define VPMU_COUNTERS    64U
#define VPMU_OBSERVERS   8U /* counters of who is not the guest: observe.h */
#define VPMU_FW_EVENTS   22U
/* The lctr of each observer: above all that a guest can name. */
#define VPMU_OBSERVER(n) (VPMU_COUNTERS - VPMU_OBSERVERS + (n))

/* An event that may be counted, as found at boot or when first asked for. Private to vpmu/. */
struct vpmu_known {
	uint32_t event_idx; /* type 0 or 1; 0: none */
	uint32_t hctrs;     /* those that can count it, of those granted; never 0 */
	uint32_t home;      /* index of the only one, for lctr and hctr; 0: there is none such */
};
#define VPMU_KNOWN 16U

/* What the VM tree says of a VM's PMU, and what the harts it may run on have. Constant. */
struct vpmu_policy {
	uint64_t hctrs;   /* hardware counters granted; bit 1 (time) never set */
	uint32_t fw_base; /* counter_idx of the first firmware counter, <= 40 */
	uint32_t width;   /* bits of every hardware counter, 1..64 */

	/*
	 * Firmware events that this machine counts truly, as masks of codes 0..21, disjoint: those
	 * that vpmu_fw_event() reports, and those of which vpmu_port_fw_total() keeps the total.
	 * The latter also keeps those of the codes 256 .. 256 + n_tally_events - 1.
	 */
	uint32_t fw_events;
	uint32_t fw_port_events;
	uint32_t n_tally_events;

	/*
	 * The event_idx that this VM may count; NULL: all. Types 0, 1 and 15 each by its exact
	 * event_idx; 0x20000 and 0x30000 stand for all raw events of their type.
	 */
	const uint32_t *events;
	uint32_t n_events;

	/*
	 * The event table of this core, NULL: none. It limits which counters count an event. With
	 * `events`, raw events are also allowed one by one.
	 */
	const struct selectors *selectors;
	const struct selector_allowed *raw_events;
	uint32_t n_raw_events;

	/* VPMU_KNOWN places that vpmu_know() has filled; NULL: events are found when first asked
	 * for. */
	const struct vpmu_known *known;

	bool overflow;    /* virtual LCOFI works for this VM */
	bool trap_reads;  /* never open a counter for direct reads */
	bool snapshot;    /* FID 7 is offered */
	bool count_hs;    /* what HS does for the vcpu counts as its VS: see HW_COUNT_HS */
	bool cheap_moves; /* to stop and start a counter costs the port a few instructions, or must
	                   */
	bool steps;       /* vpmu_port_step() is to be had */

	/*
	 * The guest reads the hart's overflow flags by itself, so each counter wants the hctr of
	 * its own index for itself.
	 */
	bool hart_flags;

	/* The hart tells of no wrap of a cache event's counter: it has to be looked for. */
	bool silent_cache;

	/* A WFI in VS that does not trap: other counts than cycles are wrong after it. */
	bool wfi_recounts;
	/* It never traps, and is cycles as long as it lasts. What it makes wrong is refused. */
	bool idle_cycles;
};

/* Of a firmware event's code: does a VM of this policy have it? */
static inline bool vpmu_fw_event_exists(const struct vpmu_policy *policy, uint32_t code)
{
	if (code < VPMU_FW_EVENTS)
		return ((policy->fw_events | policy->fw_port_events) & 1U << code) != 0;
	return code >= SBI_PMU_FW_IMPL_FIRST && code < SBI_PMU_FW_PLATFORM &&
	       code - SBI_PMU_FW_IMPL_FIRST < policy->n_tally_events;
}

/*
 * Which of the hart's counters can count a standard event (of type 0 or 1), as
 * vpmu_port_event_hctrs() would say on each hart of the VM. At boot, when the rest of the policy is
 * known; known: all 0 at first.
 */
void vpmu_know(const struct vpmu_policy *policy, struct vpmu_known known[VPMU_KNOWN],
               uint32_t event_idx, uint64_t hctrs);

#endif
