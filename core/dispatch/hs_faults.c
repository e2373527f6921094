/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs of Tally that the hart or the compiler detects. Each ends the machine with one line. */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/port.h"
#include "core/hart/pcpu.h"
#include "core/panic.h"

static bool on_a_stack(uint64_t sp)
{
	return sp - (uint64_t)hart_stacks < sizeof(hart_stacks);
}

void trap_in_hs(uint64_t scause, uint64_t sepc, uint64_t stval, uint64_t sp)
{
	uint64_t guard = (uint64_t)this_pcpu() + HART_STACK_GUARD;

	if (!on_a_stack(sp))
		panic("a hart without a stack: trap in HS: scause %lx sepc %lx stval %lx sp %lx",
		      scause, sepc, stval, sp);
	if ((scause == CAUSE_LOAD_PAGE || scause == CAUSE_STORE_PAGE) && stval - guard < PAGE_SIZE)
		panic("hart %lu: its stack is full: sepc %lx sp %lx", this_pcpu()->hartid, sepc,
		      sp);
	panic("hart %lu: trap in HS: scause %lx sepc %lx stval %lx sp %lx", this_pcpu()->hartid,
	      scause, sepc, stval, sp);
}

/* A string copy cannot write this value: it contains a zero byte, a newline and 0xff. */
uintptr_t __stack_chk_guard = 0x5a00ff0a7c3de1b7UL;

void stack_smashed(uint64_t from)
{
	panic("hart %lu: a stack frame was overwritten, called from %lx", this_pcpu()->hartid,
	      from);
}
