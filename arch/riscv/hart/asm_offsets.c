/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled to assembly only; the build turns each "->NAME VALUE" line into a #define. */
#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/port.h"
#include "arch/riscv/hart/trap.h"

#define DEFINE(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" ::"i"(value))

void asm_offsets(void);
void asm_offsets(void)
{
	DEFINE(CTX_X, offsetof(struct guest_context, x));
	DEFINE(CTX_HS_SP, offsetof(struct guest_context, hs_sp));
	DEFINE(CTX_HS_LONGEST, offsetof(struct guest_context, hs_longest));
	DEFINE(CTX_ECALLS, offsetof(struct guest_context, exits[EXIT_ECALL]));
	DEFINE(CTX_HS_INSNS, offsetof(struct guest_context, hs_insns));
	DEFINE(ASM_EXIT_ECALL, EXIT_ECALL);
	DEFINE(ASM_EXIT_LCOFI, EXIT_LCOFI);
	DEFINE(ASM_EXIT_CSR, EXIT_CSR);
	DEFINE(ASM_EXIT_MMIO, EXIT_MMIO);
	DEFINE(ASM_CSR_READ_PENDING, CSR_READ_PENDING);
	DEFINE(ASM_VSBI_SLOTS, VSBI_SLOTS);
	DEFINE(ASM_VSBI_FUNCTIONS, VSBI_FUNCTIONS);
	DEFINE(CTX_CALLS, offsetof(struct guest_context, calls));
	DEFINE(ASM_HART_STACK_TOP, HART_STACK_TOP);
	DEFINE(ASM_HART_STAY, HART_STACK_STAY - HART_STACK_TOP);
	DEFINE(ASM_HART_STACK_SIZE, HART_STACK_SIZE);
	DEFINE(ASM_HART_STACK_ROOM, HART_STACK_ROOM);
	DEFINE(ASM_HART_STACK_GUARD, HART_STACK_GUARD);
	DEFINE(ASM_TRAP_STACK_ROOM, TRAP_STACK_ROOM);
	DEFINE(ASM_PAGE_SIZE, PAGE_SIZE);
	DEFINE(ASM_TRAP_T0, TRAP_T0);
	DEFINE(ASM_TRAP_PANICKING, TRAP_PANICKING);
	DEFINE(ASM_EXT_DBCN, SBI_EXT_DBCN);
	DEFINE(ASM_DBCN_WRITE, SBI_DBCN_CONSOLE_WRITE);
	DEFINE(ASM_EXT_HSM, SBI_EXT_HSM);
	DEFINE(ASM_HSM_HART_START, SBI_HSM_HART_START);
	DEFINE(ASM_HSM_HART_STOP, SBI_HSM_HART_STOP);
	DEFINE(ASM_EXT_SRST, SBI_EXT_SRST);
	DEFINE(ASM_SRST_SHUTDOWN, SBI_SRST_SHUTDOWN);
	DEFINE(ASM_SRST_SYSFAIL, SBI_SRST_REASON_SYSFAIL);
}
