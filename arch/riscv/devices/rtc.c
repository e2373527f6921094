/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/rtc.h"

#include "arch/riscv/hart/trap.h"

/* A load of four bytes, by an instruction of four bytes, as the trap guard needs it. */
static uint32_t load(uint64_t address)
{
	uint32_t value = 0;

	__asm__ volatile(".option push\n.option norvc\nlw %0, (%1)\n.option pop"
	                 : "+r"(value)
	                 : "r"(address)
	                 : "memory");
	return value;
}

bool rtc_read(uint64_t base, uint64_t *ns)
{
	uint64_t low; /* latches the upper half */

	return hs_can(low = load(base); *ns = (uint64_t)load(base + 4) << 32 | low);
}
