/* SPDX-License-Identifier: Apache-2.0 */
/* Whether instret counts instructions. Without -icount, QEMU's instret is its host's time. */
#ifndef ARCH_RISCV_HART_INSTRET_H
#define ARCH_RISCV_HART_INSTRET_H

#include "core/lib/types.h"

static inline bool instret_counts(void)
{
	uint64_t before, after;

	__asm__ volatile("rdinstret %0\n nop\n nop\n nop\n nop\n rdinstret %1"
	                 : "=&r"(before), "=r"(after));
	return after - before == 5;
}

#endif
