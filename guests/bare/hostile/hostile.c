/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that tries everything it must not do. What it gets back is not checked here. It ends, and
 * the counts of the other guests must be right. virt=yes: its VM has machine = "virt".
 */
#include "guests/bare/bare.h"

bool insn_passes(uint32_t insn, uint64_t a0)
{
	trap_guard();
	insn_run(insn, a0);
	return trap_unguard().cause == ~0UL;
}

static uint32_t user_code[2] __attribute__((aligned(8)));

bool insn_passes_in_user(uint32_t insn, uint64_t a0)
{
	user_code[0] = insn;
	user_code[1] = 0x00008067; /* ret */
	__asm__ volatile("fence.i" ::: "memory");
	trap_guard();
	user_run(user_call, a0, (uint64_t)user_code);
	return trap_unguard().cause == ~0UL;
}

/* Prints how far it came. */
static void part(const char *name, uint64_t passed)
{
	print("hostile: %s done, %u let through\n", name, passed);
}

int hostile(uint64_t hartid)
{
	bool again = bootarg_is("again", "yes");

	print("hostile: begins\n");
	do {
		part("CSRs", hostile_csrs());
		part("memory", hostile_memory());
		part("instructions", hostile_instructions());
		part("calls", hostile_calls(hartid));
		csr_write(sie, 0);
	} while (again && !time_is_up());
	while (!time_is_up())
		;
	print("hostile: ends\n");
	return 0;
}

/* Both can only end this guest; nothing is printed after the first line. */
int wildjump(uint64_t hartid)
{
	(void)hartid;
	print("wildjump: begins\n");
	csr_write(stvec, 0xffff0000);
	__asm__ volatile("jr %0" ::"r"(0x40000000UL));
	return 1;
}

int wildsatp(uint64_t hartid)
{
	(void)hartid;
	print("wildsatp: begins\n");
	csr_write(satp, 8UL << 60 | 0xffff0);
	__asm__ volatile("sfence.vma");
	return 1;
}
