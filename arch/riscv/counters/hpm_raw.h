/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw events: their values mean something to the firmware and the hart alone. Two kinds:
 *
 * Those that are a selector which boot has learnt (struct hpm_event) are that event. They cost
 * nothing, share its home counter, and both back ends have them.
 *
 * Of any other the firmware is asked, each time: to ask means to configure and to reset. Nothing
 * is remembered: what one guest asked for must not decide what another one gets. With an event
 * table the counters are those of the table, and one of them is asked for. Delegated counters are
 * not asked for: a reset clears MINH, which only the firmware could set again, so HS writes a
 * selector of the table itself, into counters whose MINH is set. These events are refused
 * - where events want home counters: the hart that is like that (QEMU) takes any selector and
 *   counts only those that it knows, so the others would read 0 for ever. If
 *   hpm_gives_silent(), only those are refused that it would take for an event of its own;
 * - with delegated counters and no table, because nobody says what a selector means.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_RAW_H
#define ARCH_RISCV_COUNTERS_HPM_RAW_H

#include "arch/riscv/counters/hpm.h"

/* The event whose selector the raw event is; NULL: none. */
const struct hpm_event *hpm_raw_find(const struct hpm *hpm, uint64_t event_data);

/* The counters for a raw event of the second kind. */
uint64_t hpm_raw_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data, uint64_t running);

/* Does the firmware take the value as a raw event on one of these counters? At boot, while none
 * of them is configured. */
bool hpm_raw_is_taken(uint64_t event_data, uint64_t hctrs);

#endif
