/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw events, whose values only the firmware and the hart can interpret. There are two kinds:
 *
 * 1. The value is a selector that boot has found (struct hpm_event). Then it is that event: it
 * costs nothing extra, shares its home counter, and works with both back ends.
 *
 * 2. For any other value the firmware is asked each time, by configuring and resetting a counter.
 * The answer is not stored: requests of one guest must not decide the answer to another one. With
 * an event table, the counters are those of the table, and one that is idle is tested. Delegated
 * counters are not tested: a reset clears MINH, which only the firmware could set again. So HS
 * writes a selector of the table itself, into counters whose MINH is set. Events of this kind are
 * refused:
 * - where events want home counters: such a hart (QEMU) accepts any selector and counts only those
 *   that it knows, so the others would read 0 for ever. If hpm_silent_events, only those are
 *   refused that QEMU would take for an event that it knows;
 * - with delegated counters and no table, because the meaning of a selector is unknown.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_RAW_H
#define ARCH_RISCV_COUNTERS_HPM_RAW_H

#include "arch/riscv/counters/hpm.h"

/* Returns the event whose selector is `event_data`, or NULL if there is none. */
const struct hpm_event *hpm_raw_find(const struct hpm *hpm, uint64_t event_data);

/* Returns the counters for a raw event of the second kind. */
uint64_t hpm_raw_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data, uint64_t running);

/* Whether the firmware accepts the value as a raw event on one of these counters. At boot, while
 * none of them is configured. */
bool hpm_raw_is_taken(uint64_t event_data, uint64_t hctrs);

#endif
