/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLB-miss counters near their wrap, started in every possible way. An emulator may end when such a
 * counter wraps while it is armed, so Tally never arms it. It polls for the overflow, which is
 * reported up to 10 us late.
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

/* Each round is at least one miss, of loads, of stores and, after the call, of fetches. */
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

/* After the misses, another guest ran, or the counter was stopped. */
static void look(const char *how)
{
	miss();
	pmu_stop(BIT(ctr));
	print("%s: flags %s, %u interrupts\n", how,
	      own_flags(csr_read(CSR_SCOUNTOVF), BIT(ctr)) == BIT(ctr) ? "right" : "wrong",
	      interrupts);
	interrupts = 0;
}

static uint64_t period, late, counted, wrong;

static void on_sample(struct trap_frame *f)
{
	uint64_t over;

	(void)f;
	interrupts++;
	pmu_stop(BIT(ctr));
	over = counter_read(ctr);
	wrong += over >> 63 || own_flags(csr_read(CSR_SCOUNTOVF), BIT(ctr)) != BIT(ctr);
	counted += period + over;
	if (over > late)
		late = over;
	csr_clear(sip, IRQ_LCOFI);
	pmu_start(BIT(ctr), -period);
}

/* Few misses in many instructions, alone on the hart and with no call: only Tally's polls find the
 * wrap. */
static void misses(uint64_t n)
{
	volatile char *memory = (volatile char *)0x80800000;

	for (uint64_t i = 0; i < n; i++) {
		for (volatile int k = 0; k < 20; k++)
			;
		__asm__ volatile("sfence.vma" ::: "memory");
		(void)memory[i % 64 * 4096];
	}
}

/* Every wrap has its sample, and there are as many as fit into what was counted. */
static void samples(uint64_t idx)
{
	ctr = configure(hw, 0, idx);
	if (!ctr)
		return;
	interrupts = late = counted = wrong = 0;
	period = 1000;
	irq_handle_by(on_sample);
	csr_set(sstatus, SSTATUS_SIE);
	pmu_start(BIT(ctr), -period);
	while (interrupts < 100 && counted < 1000000)
		misses(100);
	csr_clear(sstatus, SSTATUS_SIE);
	pmu_stop(BIT(ctr));
	csr_clear(sip, IRQ_LCOFI);
	print("event 0x%x: %u samples, %s, %u wrong\n", idx, interrupts,
	      late < period ? "none late by a period" : "late", wrong);
	pmu_reset(BIT(ctr));
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
	__asm__ volatile(".word 0x00d00073"); /* wrs.nto: ends the time slice */
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
	samples(events[0]);
	print("tlb: ends\n");
	return 0;
}
