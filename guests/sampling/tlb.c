/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLB-miss counters near their wrap, started in every way there is. An emulator may end where one
 * that is armed wraps, so Tally arms none: the overflow shows when it looks at the counter next.
 */
#include "guests/sampling/sampling.h"

static const uint64_t events[] = {0x10019, 0x1001b, 0x10021};
static uint64_t hw, interrupts;
static uint32_t ctr;

static void on_overflow(struct trap_frame *f)
{
	(void)f;
	interrupts++;
	csr_clear(sip, IRQ_LCOFI);
}

/* Each round is a miss at least, of loads, of stores and, behind the call, of fetches. */
static void miss(void)
{
	volatile char *memory = (volatile char *)0x80800000;

	for (uint64_t i = 0; i < 64; i++) {
		__asm__ volatile("sfence.vma" ::: "memory");
		memory[i * 4096] = 1;
		__asm__ volatile("sfence.vma" ::: "memory");
		(void)memory[i * 4096];
		sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
	}
}

/* After the misses: somebody else ran, or the counter was stopped. */
static void look(const char *how)
{
	miss();
	pmu_stop(BIT(ctr));
	print("%s: flags %s, %u interrupts\n", how,
	      own_flags(csr_read(CSR_SCOUNTOVF), BIT(ctr)) == BIT(ctr) ? "right" : "wrong",
	      interrupts);
	interrupts = 0;
}

static void event(uint64_t idx)
{
	print("event 0x%x\n", idx);
	ctr = configure(hw, 0, idx);
	if (!ctr)
		return;
	csr_set(sstatus, SSTATUS_SIE);
	pmu_start(BIT(ctr), -4UL);
	look("start");
	pmu_start(BIT(ctr), -40UL);
	pmu_stop(BIT(ctr));
	sbi_pmu(SBI_PMU_COUNTER_START, 0, BIT(ctr), 0, 0, 0);
	look("go on");
	pmu_start(BIT(ctr), -40UL);
	pmu_stop(BIT(ctr));
	pmu_reset(BIT(ctr));
	pmu_config(BIT(ctr), SBI_PMU_CFG_FLAG_AUTO_START, idx);
	look("AUTO_START");
	pmu_start(BIT(ctr), -40UL);
	__asm__ volatile(".word 0x00d00073"); /* wrs.nto: the neighbour's turn */
	look("world switch");
	csr_clear(sstatus, SSTATUS_SIE);
	pmu_reset(BIT(ctr));
}

int tlb(void)
{
	hw = hw_counters();
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	for (unsigned i = 0; i < 3; i++)
		event(events[i]);
	print("tlb: ends\n");
	return 0;
}
