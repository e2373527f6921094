/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware events that only M-mode sees, because it takes these traps first. The firmware's own
 * counters count them: they run from boot on, and Tally computes differences. Calls for firmware
 * counters do not affect hardware counters, so they work with both back ends.
 */
#ifndef ARCH_RISCV_COUNTERS_FW_EVENTS_H
#define ARCH_RISCV_COUNTERS_FW_EVENTS_H

#include "core/lib/types.h"

/* SBI_PMU_FW_MISALIGNED_LOAD (0) to SBI_PMU_FW_ILLEGAL_INSN (4). */
#define FW_EVENTS_M 5U

struct fw_events {
	uint32_t codes; /* mask of the events that this hart's firmware counts */
	uint32_t counter_idx[FW_EVENTS_M];
};

/* Starts the counters. At boot, on each hart. */
void fw_events_init(struct fw_events *fw);

/* Returns the hart's count since boot, for all vcpus. `code` is in fw->codes. */
uint64_t fw_events_read(const struct fw_events *fw, uint32_t code);

#endif
