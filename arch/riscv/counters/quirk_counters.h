/* SPDX-License-Identifier: Apache-2.0 */
/* A known fault of counters: arch/riscv/hart/quirks.h has the others. */
#ifndef ARCH_RISCV_COUNTERS_QUIRK_COUNTERS_H
#define ARCH_RISCV_COUNTERS_QUIRK_COUNTERS_H

#include "core/lib/types.h"

/*
 * Whether one of two counters stands still if both count the same event. Both are programmable, can
 * count the event, and are reset before and afterwards. Calls quirks_believe_qemu() if one counts
 * and the other does not.
 */
bool quirk_one_counter_per_event(uint32_t event_idx, uint32_t hctr_a, uint32_t hctr_b);

#endif
