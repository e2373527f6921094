/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_RISCV_COUNTERS_HPM_SELFCHECK_H
#define ARCH_RISCV_COUNTERS_HPM_SELFCHECK_H

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/hart/csr.h"

/* Counts until a trial's armed counter wraps. */
#define HPM_TRIAL_PERIOD 500UL

/*
 * For hpm_probe.c, at boot: no guest has state on the hart, sie is 0, events have their counters,
 * and hpm->delegated is the back end. This may clear hpm->delegated, hpm->hs_lcofi and hpm->lcofi,
 * and take the counters of events away. The reason is then in undelegated, no_overflow and fault,
 * as text to follow "hart 0 has". `patience` is the maximum time until an overflow is reported, in
 * ticks of host time.
 */
void hpm_selfcheck(struct hpm *hpm, uint64_t patience);

/*
 * Checks whether the counter accepts the event and a value, does not count HS and M, and stops. For
 * cycles, instructions, and events whose stimulus the event table names (vpmu/selector.h), also
 * whether it counts VS and VU, and each of them without the other. Returns NULL if so, otherwise
 * the defect, as text to follow "hart 0 has". The counter is stopped afterwards; its contents are
 * undefined.
 */
const char *hpm_selfcheck_event(struct hpm *hpm, uint32_t event_idx, uint32_t hctr);

/* Starts the counter, not armed, with an event and filter (HW_INH_*, HW_COUNT_HS). Returns NULL, or
 * the defect, as text to follow "hart 0 has". */
const char *hpm_selfcheck_begin(struct hpm *hpm, uint32_t hctr, uint32_t event_idx,
                                uint32_t inhibit);

/*
 * Returns whether two counters of one event have separate filters, so that a guest can count VS
 * with one and VU with the other at the same time. Tests events that have two counters and a
 * stimulus; true if there is none. After hpm_selfcheck(), under the same conditions.
 */
bool hpm_selfcheck_filters(struct hpm *hpm);

/* Leaves a stopped counter as found: with OF set and an unused filter, or reset. */
void hpm_selfcheck_leave(struct hpm *hpm, uint32_t hctr);

/*
 * Probes of OF bits for harts where guests' reads of scountovf do not trap (hpm_flag_trials.c).
 * hpm_probe_flags_hidden(): see hpm->flags_hidden. All counters of events have OF = 1, and are
 * stopped. hpm_probe_flag_starts(): sets start_sets_flag and far_loses, with a stopped counter
 * whose event counts HS. It is stopped afterwards, its next overflow is reported, and no LCOFI is
 * pending. Returns NULL, or the defect that prevents overflow interrupts.
 */
bool hpm_probe_flags_hidden(const struct hpm *hpm);
const char *hpm_probe_flag_starts(struct hpm *hpm, uint32_t hctr, uint64_t patience);

static inline bool hpm_flag(uint32_t hctr)
{
	return csr_read(CSR_SCOUNTOVF) >> hctr & 1;
}

/* Waits for an LCOFI, at most `patience` ticks of host time. */
bool hpm_wait_for_lcofi(uint64_t patience);

/* Executes 30 instructions, VS_WORK_PASS for each of the passes (1 or more), and an ECALL in
 * VS-mode or VU-mode. Some of them jump, one loads and one stores. Together they use three pages of
 * Tally's memory, including their own. */
#define VS_WORK_PASS 2U
void vs_work(bool user, uint64_t passes);

/*
 * Whether one of two counters stands still if both count the same event. Both are programmable, can
 * count the event, and are reset before and afterwards. Calls quirks_believe_qemu() if one counts
 * and the other does not.
 */
bool quirk_one_counter_per_event(uint32_t event_idx, uint32_t hctr_a, uint32_t hctr_b);

#endif
