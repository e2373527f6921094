/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"

/* switch.S reads these words, which struct pcpu reserves (core/hart/pcpu.h). */
static volatile uint64_t *guard_words(void)
{
	uint64_t sp;

	__asm__ volatile("mv %0, sp" : "=r"(sp));
	return (volatile uint64_t *)ALIGN_DOWN(sp, HART_STACK_SIZE);
}

extern char trap_vector[], trap_vector_recorded[];

void trap_record(bool on)
{
	csr_write(CSR_STVEC, (uint64_t)(on ? trap_vector_recorded : trap_vector));
}

struct trap_guard trap_guard_begin(void)
{
	volatile uint64_t *words = guard_words();
	struct trap_guard guard;

	/* First, because reading hstatus traps without H (isa_trial.c). */
	words[1] = ~0UL;
	words[0] = 1;
	guard.sepc = csr_read(CSR_SEPC);
	guard.sstatus = csr_read(CSR_SSTATUS);
	guard.hstatus = csr_read(CSR_HSTATUS);
	guard.scause = csr_read(CSR_SCAUSE);
	return guard;
}

uint64_t trap_guard_end(const struct trap_guard *guard)
{
	volatile uint64_t *words = guard_words();
	uint64_t cause = words[1];

	if (cause != ~0UL) {
		csr_write(CSR_SEPC, guard->sepc);
		csr_write(CSR_SSTATUS, guard->sstatus);
		csr_write(CSR_HSTATUS, guard->hstatus);
		csr_write(CSR_SCAUSE, guard->scause);
	}
	words[0] = 0;
	return cause;
}
