/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what=masked: masks LCOFI while one pends, under interrupts of all other kinds, each of which
 * stopi has to tell; then unmasks it, and has to take it at once. what=late: masks it when it pends
 * already, and reads a counter, whose reads trap, before it unmasks it.
 */
#include "guests/bare/io/aia.h"

#define ALL  (IRQ_EXTERNAL | IRQ_TIMER | IRQ_SOFT)
#define SOON 5UL /* ticks */

static uint64_t wrong;

static void set_timer_by_sbi(uint64_t at)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, at, 0, 0, 0, 0, 0);
}

static void send_ipi(void)
{
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, 0, 0, 0, 0, 0);
}

/* One of each kind after the other, then all together, then the timer in WFI. */
static void load(void)
{
	const struct aia_taken *t = &aia_taken[0];
	uint64_t external = t->external, timer = t->timer, soft = t->soft;
	uint64_t far = csr_read(time) + 100000000UL;

	aia_send(0, 5);
	aia_await(&t->external, external + 1);
	csr_write(CSR_STIMECMP, csr_read(time) + SOON);
	aia_await(&t->timer, timer + 1);
	send_ipi();
	aia_await(&t->soft, soft + 1);
	set_timer_by_sbi(csr_read(time) + SOON);
	aia_await(&t->timer, timer + 2);

	csr_clear(sstatus, SSTATUS_SIE);
	aia_send(0, 6);
	aia_send(0, 7);
	send_ipi();
	csr_write(CSR_STIMECMP, 0);
	wrong += csr_read(CSR_STOPI) >> 16 != 9; /* the first in AIA's default order */
	csr_set(sstatus, SSTATUS_SIE);

	/* A bit of sie comes and goes, and stimecmp keeps its value. */
	csr_clear(sie, IRQ_TIMER);
	csr_write(CSR_STIMECMP, 0);
	wrong += !(csr_read(sip) & IRQ_TIMER);
	csr_set(sie, IRQ_TIMER);
	csr_write(CSR_STIMECMP, far);
	wrong += csr_read(CSR_STIMECMP) != far || csr_read(sip) & IRQ_TIMER;

	csr_clear(sstatus, SSTATUS_SIE);
	csr_write(CSR_STIMECMP, csr_read(time) + 10 * SOON);
	__asm__ volatile("wfi");
	wrong += !(csr_read(sip) & IRQ_TIMER);
	csr_set(sstatus, SSTATUS_SIE);
	wrong += csr_read(CSR_STIMECMP) != ~0UL;
}

int aia_masked(uint64_t n)
{
	const struct aia_taken *t = &aia_taken[0];
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);
	uint64_t counter = BIT(r.value), before;

	for (uint64_t i = 0; i < n && !r.error; i++) {
		csr_clear(sie, IRQ_LCOFI);
		wrong += pmu_start(counter, -100UL) != 0;
		for (volatile int k = 0; k < 100; k++)
			;
		wrong += !(csr_read(sip) & IRQ_LCOFI);
		load();
		before = t->lcofi;
		csr_set(sie, IRQ_LCOFI);
		wrong += t->lcofi != before + 1;
		wrong += sbi_pmu(SBI_PMU_COUNTER_STOP, 0, counter, 0, 0, 0).error != 0;
	}
	print("aia: %u rounds, LCOFI %u, timer %u, soft %u, external %u", n, t->lcofi, t->timer,
	      t->soft, t->external);
	print(", %u wrong, %u lost, %u without a cause\n", wrong, aia_lost, t->nothing);
	return r.error || wrong || aia_lost || t->nothing;
}

int aia_late(uint64_t n)
{
	const struct aia_taken *t = &aia_taken[0];
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);
	uint64_t counter = BIT(r.value), before;

	for (uint64_t i = 0; i < n && !r.error; i++) {
		before = t->lcofi;
		csr_clear(sstatus, SSTATUS_SIE);
		csr_set(sie, IRQ_LCOFI);
		wrong += pmu_start(counter, -100UL) != 0;
		for (volatile int k = 0; k < 100; k++)
			;
		wrong += !(csr_read(sip) & IRQ_LCOFI);
		csr_clear(sie, IRQ_LCOFI);
		csr_set(sstatus, SSTATUS_SIE);
		(void)counter_read((uint32_t)r.value);
		wrong += t->lcofi != before;
		csr_set(sie, IRQ_LCOFI);
		wrong += t->lcofi != before + 1;
		wrong += sbi_pmu(SBI_PMU_COUNTER_STOP, 0, counter, 0, 0, 0).error != 0;
	}
	print("aia: %u rounds, LCOFI %u, %u wrong, %u without a cause\n", n, t->lcofi, wrong,
	      t->nothing);
	return r.error || wrong || t->nothing;
}
