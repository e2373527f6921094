/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally found on this machine, in a few lines. */
#ifndef CORE_BOOT_BOOT_REPORT_H
#define CORE_BOOT_BOOT_REPORT_H

#include "core/lib/types.h"

/* Panics if the hart cannot run guests, and says what is missing. */
void boot_report_require(uint64_t hartid, uint64_t isa);

/* Returns whether platform.harts[i] can run guests. If not, it logs one line that says why. */
bool boot_report_usable(uint32_t i);

void boot_report_machine(void);

#endif
