/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests whose trap handler causes a page fault with its first instruction, like a kernel whose
 * stack is not mapped: fault=load, store or amo. No instruction is executed from then on, so if
 * time is counted in instructions, it stands still. lcofi=yes: an overflow interrupt is pending
 * meanwhile.
 */
#include "guests/bare/bare.h"

#define ROOT     0x80e00000UL
#define NOWHERE  0x40000000UL
#define SV39     (8UL << 60)
#define GIGAPAGE 0xcfUL /* D A X W R V */

/* paging.S */
void loading_vector(void);
void stack_vector(void);
void amo_vector(void);

/* Interrupts are off, so it is not taken. */
static void overflow(void)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);

	csr_write(sie, IRQ_LCOFI);
	pmu_start(BIT(r.value), -10UL);
	for (volatile int i = 0; i < 100; i++)
		;
}

int handler_faults(void)
{
	volatile uint64_t *root = (volatile uint64_t *)ROOT;

	if (bootarg("lcofi"))
		overflow();
	root[2] = (0x80000000UL >> 12) << 10 | GIGAPAGE;
	csr_write(satp, SV39 | ROOT >> 12);
	__asm__ volatile("sfence.vma" ::: "memory");
	if (bootarg_is("fault", "store"))
		csr_write(stvec, stack_vector);
	else if (bootarg_is("fault", "amo"))
		csr_write(stvec, amo_vector);
	else
		csr_write(stvec, loading_vector);
	__asm__ volatile("mv s0, %0\n\tebreak" ::"r"(NOWHERE) : "s0");
	return 1;
}
