/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally found on this machine, in a few lines. */
#ifndef CORE_BOOT_BOOT_REPORT_H
#define CORE_BOOT_BOOT_REPORT_H

#include "core/lib/types.h"

/* Panics, saying what is missing, where the hart cannot run guests at all. */
void boot_report_require(uint64_t hartid, uint64_t isa);

/* Can platform.harts[i] run guests? If not, one line says why, and it is left alone. */
bool boot_report_usable(uint32_t i);

void boot_report_machine(void);

#endif
