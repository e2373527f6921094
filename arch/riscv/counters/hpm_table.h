/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_RISCV_COUNTERS_HPM_TABLE_H
#define ARCH_RISCV_COUNTERS_HPM_TABLE_H

#include "arch/riscv/counters/hpm.h"

/*
 * Compares the hart with the event table of the VM tree, at boot. No counter runs meanwhile, and
 * all are without contents before and afterwards. hpm->events has the general and cache events of
 * the table that the firmware accepts. Raw events are tested here: on each counter of each row one
 * of the row's events, a different one on each counter.
 *
 * A contradiction is a counter of the table that the hart lacks, an event that the firmware refuses
 * on a counter of the table, or, where HS can see it, a selector in mhpmevent that is not the
 * table's. An event that only the firmware has is no contradiction: the table may leave events out.
 * Firmware that accepts no raw event of the table at all has no map of raw events: then guests have
 * none (hpm->table_raw).
 */
void hpm_table_check(struct hpm *hpm);

/* Makes the firmware configure these counters, which have no contents, with raw events of the
 * table. Returns the counters that it has configured. */
uint64_t hpm_table_configure(const struct hpm *hpm, uint64_t hctrs);

#endif
