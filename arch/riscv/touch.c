/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/touch.h"

#include "arch/riscv/trap.h"

/* The instructions are four bytes long, as the guard needs. */
bool touch(uint64_t address)
{
	struct trap_guard guard;
	uint64_t word;

	trap_guard_begin(&guard);
	__asm__ volatile(".option push\n.option norvc\nld %0, 0(%1)\n.option pop"
	                 : "=&r"(word)
	                 : "r"(address)
	                 : "memory");
	if (trap_guard_end(&guard) != ~0UL)
		return false;
	trap_guard_begin(&guard);
	__asm__ volatile(".option push\n.option norvc\nsd %0, 0(%1)\n.option pop" ::"r"(word),
	                 "r"(address)
	                 : "memory");
	return trap_guard_end(&guard) == ~0UL;
}
