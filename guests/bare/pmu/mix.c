/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of many guests that count different things. Bootargs say what:
 *   event=1, 2      cycles, instructions
 *   flags=N         of config_matching: 0x20 excludes U, 0x40 excludes S; in decimal
 *   share=N         further counters of the same event
 *   period=N        another counter, of the other event, overflows every N counts; 0: none
 *   length=N        rounds of two instructions, in S and in U
 *   parts=N         repetitions; between them WFI until the next tick
 * Prints a line for each counter with what it counted, and one for the overflows: how many there
 * were, and the sum of the places in the program where they came.
 */
#include "guests/bare/bare.h"

#define FAR 0x8000000000000001UL

static uint64_t sampler, period, overflows, places;

/* The trap comes at the wrap. The counter counts on, and is started again. */
static void on_overflow(struct trap_frame *frame)
{
	overflows++;
	places = places * 31 + frame->pc + frame->x[10];
	csr_clear(sip, IRQ_LCOFI);
	pmu_stop(BIT(sampler));
	pmu_start(BIT(sampler), -period);
}

/* Starts a counter. Returns 0 if it was refused. */
static uint64_t counter(uint64_t free, uint64_t flags, uint64_t event, uint64_t value)
{
	struct sbiret r = pmu_config(free, flags, event);

	return r.error || !(BIT(r.value) & free) || pmu_start(BIT(r.value), value) ? 0 : r.value;
}

static void nap(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 1, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	__asm__ volatile("wfi");
	csr_clear(sie, IRQ_TIMER);
}

/* Returns what the counter counted in S and in U in code of known length. */
static void work(uint32_t ctr, uint64_t parts, uint64_t length, uint64_t *s, uint64_t *u)
{
	for (uint64_t i = 0; i < parts; i++) {
		csr_set(sstatus, SSTATUS_SIE);
		*s += segment_of(ctr)(length);
		csr_clear(sstatus, SSTATUS_SIE);
		*u += user_run(user_call, length, (uint64_t)segment_of(ctr));
		nap();
	}
}

int mix(uint64_t hartid)
{
	uint64_t hw = find_counters().hw, event = bootarg_num("event", EVENT_INSTRUCTIONS),
	         flags = bootarg_num("flags", 0), share = bootarg_num("share", 0),
	         parts = bootarg_num("parts", 1), length = bootarg_num("length", 1000), used = 0;

	(void)hartid;
	period = bootarg_num("period", 0);
	if (period) {
		irq_handle_by(on_overflow);
		csr_set(sie, IRQ_LCOFI);
		sampler = counter(hw, SBI_PMU_CFG_FLAG_SET_UINH, 3 - event, -period);
		used |= BIT(sampler);
	}
	csr_write(scounteren, ~0UL);
	for (uint64_t i = 0; i <= share; i++) {
		uint64_t ctr = counter(hw & ~used, flags, event, FAR + i), s = 0, u = 0;

		used |= BIT(ctr);
		if (ctr)
			work((uint32_t)ctr, parts, length, &s, &u);
		print("mix: counter %u: S %u, U %u\n", i, s, u);
	}
	if (period)
		pmu_stop(BIT(sampler));
	print("mix: %u overflows at 0x%x\n", overflows, places);
	return 0;
}
