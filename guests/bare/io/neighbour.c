/* SPDX-License-Identifier: Apache-2.0 */
/* Guests that share a hart with others, whose counts they must not change. */
#include "guests/bare/bare.h"

#define MILLISECOND 10000UL

static unsigned long wakeups, overflows, period;

static void on_timer(struct trap_frame *frame)
{
	(void)frame;
	wakeups++;
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + period, 0, 0, 0, 0, 0);
}

int idle(uint64_t hartid)
{
	(void)hartid;
	period = bootarg_num("period", MILLISECOND);
	print("idle: begins\n");
	irq_handle_by(on_timer);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + period, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	csr_set(sstatus, SSTATUS_SIE);
	while (!time_is_up())
		__asm__ volatile("wfi");
	csr_clear(sstatus, SSTATUS_SIE);
	print("idle: ends after %u wakeups\n", wakeups);
	return 0;
}

int busy(uint64_t hartid)
{
	uint64_t rounds = 0;

	(void)hartid;
	print("busy: begins\n");
	/* Not each round, because reading time is slow on an emulator that counts instructions. */
	for (; !time_is_up(); rounds++)
		for (volatile unsigned i = 0; i < 1000; i++)
			;
	print("busy: ends after %u rounds\n", rounds);
	return 0;
}

static void on_overflow(struct trap_frame *frame)
{
	(void)frame;
	overflows++;
	csr_clear(sip, IRQ_LCOFI);
}

/* One round: both events, started near the wrap and far from it; some are stopped, some reset. */
static void pmu_round(uint64_t hw, uint64_t n)
{
	static const uint64_t flags[] = {0, SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH};
	struct sbiret a = pmu_config(hw, flags[n % 3], EVENT_INSTRUCTIONS);
	struct sbiret b = pmu_config(hw, flags[(n / 3) % 3], EVENT_CYCLES);

	if (a.error == SBI_SUCCESS)
		pmu_start(BIT(a.value), n & 1 ? -(n % 997 + 100) : 0x8000000000000001UL + n);
	if (b.error == SBI_SUCCESS)
		pmu_start(BIT(b.value), n & 2 ? -(n % 499 + 100) : n << 32);
	csr_set(sstatus, SSTATUS_SIE);
	for (volatile uint64_t i = n % 211; i; i--)
		;
	csr_clear(sstatus, SSTATUS_SIE);
	if (n & 4)
		pmu_stop(hw);
	pmu_reset(hw);
}

int pmuloop(uint64_t hartid)
{
	uint64_t hw = find_counters().hw, n = 0;

	(void)hartid;
	print("pmuloop: begins\n");
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	while (!time_is_up())
		pmu_round(hw, n++);
	print("pmuloop: ends after %u rounds, %u overflows\n", n, overflows);
	return n > 0 ? 0 : 1;
}
