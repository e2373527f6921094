/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_RISCV_HART_TOUCH_H
#define ARCH_RISCV_HART_TOUCH_H

#include "core/lib/types.h"

/* Whether HS can read and write a word of memory; its value does not change. The address is a
 * multiple of 8. Only at boot, while HS runs without translation. */
bool touch(uint64_t address);

#endif
