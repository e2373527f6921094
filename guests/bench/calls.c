/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that need no counter. */
#include "guests/bench/bench.h"

static uint64_t self;

static void base(void)
{
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
}

static void num_counters(void)
{
	sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0);
}

static void get_info(void)
{
	sbi_pmu(SBI_PMU_COUNTER_GET_INFO, 3, 0, 0, 0, 0);
}

static void set_timer(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

static volatile bool taken;

static void soft_irq(struct trap_frame *frame)
{
	(void)frame;
	csr_clear(sip, IRQ_SOFT);
	taken = true;
}

static void ipi_before(void)
{
	taken = false;
}

static void ipi(void)
{
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, self, 0, 0, 0, 0);
	while (!taken)
		;
}

void bench_calls(uint64_t hartid)
{
	static const struct row rows[] = {
	    {.name = "base", .op = base},
	    {.name = "num_counters", .op = num_counters},
	    {.name = "counter_get_info", .op = get_info},
	    {.name = "set_timer", .op = set_timer},
	};
	static const struct row ipi_row = {.name = "ipi-self", .op = ipi, .before = ipi_before};

	self = hartid;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		bench(&rows[i]);
	irq_handle_by(soft_irq);
	csr_set(sie, IRQ_SOFT);
	csr_set(sstatus, SSTATUS_SIE);
	bench(&ipi_row);
	csr_clear(sstatus, SSTATUS_SIE);
	csr_clear(sie, IRQ_SOFT);
	irq_handle_by(0);
}
