/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware events that only M-mode sees, because it takes these traps before anyone else: counted
 * by the firmware's own counters, which run for ever from boot and are read for differences.
 * Calls for firmware counters touch no hardware counter, so they go with either back end.
 */
#ifndef ARCH_FW_EVENTS_H
#define ARCH_FW_EVENTS_H

#include "core/lib/types.h"

/* SBI_PMU_FW_MISALIGNED_LOAD (0) to SBI_PMU_FW_ILLEGAL_INSN (4). */
#define FW_EVENTS_M 5U

struct fw_events {
	uint32_t codes; /* mask of those that this hart's firmware counts */
	uint32_t counter_idx[FW_EVENTS_M];
};

/* At boot, on the hart itself. */
void fw_events_init(struct fw_events *fw);

/* What this hart has seen since boot, whoever caused it. code: one of fw->codes. */
uint64_t fw_events_read(const struct fw_events *fw, uint32_t code);

#endif
