/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_RISCV_COUNTERS_HPM_TABLE_H
#define ARCH_RISCV_COUNTERS_HPM_TABLE_H

#include "arch/riscv/counters/hpm.h"

/*
 * Compares what the hart answers with the event table of the VM tree, at boot. Nothing counts
 * meanwhile, and all counters hold nothing, before and afterwards. hpm->events has what the
 * firmware takes of the table's general and cache events. Asked for are, besides these, raw events:
 * on each counter of each row one of the row's events, another on each counter.
 *
 * Contradictions are a counter of the table that the hart has not, an event that the firmware
 * refuses on a counter of the table, and, where HS can see it, a selector in mhpmevent that is not
 * the table's. What the firmware takes and the table has not is none: the table may take away. A
 * firmware that takes no raw event of the table at all has no map of raw events: then guests have
 * none (hpm->table_raw).
 */
void hpm_table_check(struct hpm *hpm);

/* The firmware configures these counters, which hold nothing, with raw events of the table. Returns
 * those that it has. */
uint64_t hpm_table_configure(const struct hpm *hpm, uint64_t hctrs);

#endif
