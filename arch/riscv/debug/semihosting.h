/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the emulator ("Semihosting for RISC-V" 1.0; the operations are Arm's). Only where
 * tools/run has switched them on. */
#ifndef ARCH_RISCV_DEBUG_SEMIHOSTING_H
#define ARCH_RISCV_DEBUG_SEMIHOSTING_H

#include "core/lib/types.h"

#define SEMIHOSTING_OPEN    0x01UL
#define SEMIHOSTING_WRITE   0x05UL
#define SEMIHOSTING_CMDLINE 0x15UL
#define SEMIHOSTING_MODE_WB 5UL

uint64_t semihosting(uint64_t operation, const void *block);

#endif
