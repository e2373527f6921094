/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs of Tally that the hart or the compiler detects. Each ends the machine with one line. */
#include "arch/riscv/trap.h"
#include "core/panic.h"
#include "core/vm/pcpu.h"

void trap_in_hs(uint64_t scause, uint64_t sepc, uint64_t stval, uint64_t sp)
{
	panic("hart %lu: trap in HS: scause %lx sepc %lx stval %lx sp %lx", this_pcpu()->hartid,
	      scause, sepc, stval, sp);
}

/* For -fstack-protector-strong, in Tally and in libfdt. A string copy cannot write this value: it
 * contains a zero byte, a newline and 0xff. */
uintptr_t __stack_chk_guard = 0x5a00ff0a7c3de1b7UL;
_Noreturn void __stack_chk_fail(void);

void __stack_chk_fail(void)
{
	panic("hart %lu: a stack frame was overwritten, called from %p", this_pcpu()->hartid,
	      __builtin_return_address(0));
}
