/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/touch.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"

/* An AMO reads and writes memory in one step, so no store of another hart in between is lost. */
bool touch(uint64_t address)
{
	struct trap_guard guard = trap_guard_begin();
	uint64_t cause;

	__asm__ volatile("amoor.d zero, zero, (%0)" ::"r"(address) : "memory");
	cause = trap_guard_end(&guard);
	/* If the hart lacks H, which is not known yet, the guard itself has trapped. */
	return cause == ~0UL || cause == CAUSE_ILLEGAL_INSN;
}
