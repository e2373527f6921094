/* SPDX-License-Identifier: Apache-2.0 */
/* The cost from the wrap of a counter to the guest's trap, and that of one sample. */
#include "guests/bench/bench.h"

#define INSTRUCTIONS 2UL
#define PERIOD       1000UL

static uint64_t mask;
static volatile bool taken;

static volatile uint64_t flags;

static void overflow(struct trap_frame *frame)
{
	(void)frame;
	pmu_stop(mask);
	csr_clear(sip, IRQ_LCOFI);
	taken = true;
}

/* Also reads which counter it was, like Linux. */
static void overflow_flags(struct trap_frame *frame)
{
	flags = csr_read(0xda0); /* scountovf */
	overflow(frame);
}

static void before(void)
{
	taken = false;
}

/* One sample: start, PERIOD instructions, and the trap, whose handler stops the counter. */
static void sample(void)
{
	pmu_start(mask, -PERIOD);
	while (!taken)
		;
}

/* The same without PMU: the instructions in sample() before the trap. */
static void span(void)
{
	for (uint64_t i = 0; i < PERIOD / 2; i++)
		__asm__ volatile("");
}

void bench_overflow(void)
{
	static const struct row sample_row = {
	    .name = "sample-1000", .op = sample, .before = before, .rounds = 2000};
	static const struct row flags_row = {
	    .name = "sample-1000-scountovf", .op = sample, .before = before, .rounds = 2000};
	static const struct row span_row = {.name = "span-1000", .op = span, .rounds = 2000};
	struct sbiret r = pmu_config(0x7fff8, SBI_PMU_CFG_FLAG_SET_UINH, INSTRUCTIONS);

	if (r.error)
		return;
	mask = BIT(r.value);
	irq_handle_by(overflow);
	csr_set(sie, IRQ_LCOFI);
	csr_set(sstatus, SSTATUS_SIE);
	bench(&sample_row);
	irq_handle_by(overflow_flags);
	bench(&flags_row);
	bench(&span_row);
	csr_clear(sstatus, SSTATUS_SIE);
	csr_clear(sie, IRQ_LCOFI);
	irq_handle_by(0);
	pmu_reset(mask);
}
