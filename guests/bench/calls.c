/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that need no counter, and accesses to emulated devices. */
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

/* Registers of devices that Tally emulates: the priority of a source of the interrupt controller,
 * or with an AIA the enable bits of all, and what is about one; of the UART the line status and the
 * scratch register. */
static void read_plic(void)
{
	(void)*(const volatile uint32_t *)0x0c000028UL;
}

static void write_plic(void)
{
	*(volatile uint32_t *)0x0c000028UL = 1;
}

static void read_aplic(void)
{
	(void)*(const volatile uint32_t *)0x0d001e00UL;
}

/* To setipnum, as a guest writes for each interrupt of a level. */
static void write_aplic(void)
{
	*(volatile uint32_t *)0x0d001cdcUL = 10;
}

static void read_uart(void)
{
	(void)*(const volatile uint8_t *)0x10000005UL;
}

static void write_uart(void)
{
	*(volatile uint8_t *)0x10000007UL = 1;
}

static void bench_devices(bool live)
{
	static const struct {
		const char *name, *name_live;
		operation_t op;
	} rows[] = {
	    {"aplic-read", "aplic-read-live", read_aplic},
	    {"aplic-write", "aplic-write-live", write_aplic},
	    {"plic-read", "plic-read-live", read_plic},
	    {"plic-write", "plic-write-live", write_plic},
	    {"uart-read", "uart-read-live", read_uart},
	    {"uart-write", "uart-write-live", write_uart},
	};
	bool aia = bootarg_is("rows", "aia");

	/* Detached: what has no mode does not pend. */
	if (aia)
		*(volatile uint32_t *)0x0d000028UL = 1;
	for (unsigned i = aia ? 0 : 2; i < (aia ? 2 : 6); i++)
		bench(&(struct row){.name = live ? rows[i].name_live : rows[i].name,
		                    .op = rows[i].op});
}

void bench_registers(uint64_t hw)
{
	static const uint64_t events[] = {EVENT_CYCLES, EVENT_INSTRUCTIONS};
	uint64_t live = 0;

	bench_devices(false);
	for (unsigned i = 0; i < 2; i++) {
		struct sbiret r = pmu_config(hw & ~live, 0, events[i]);

		if (r.error || pmu_start(BIT(r.value), 0x8000000000000001UL))
			return;
		live |= BIT(r.value);
	}
	bench_devices(true);
	pmu_stop(live);
	pmu_reset(live);
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
