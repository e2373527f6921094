/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_RISCV_HART_TOUCH_H
#define ARCH_RISCV_HART_TOUCH_H

#include "core/lib/types.h"

/* Whether HS can read a word of memory and write it; it keeps its value. The address is a multiple
 * of 8. At boot only, where HS runs without translation. */
bool touch(uint64_t address);

#endif
