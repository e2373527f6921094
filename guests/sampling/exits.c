/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a sample in exits by kind, from Tally's own firmware events. Samples are taken in U,
 * and the handler stops the counter, reads scountovf, and starts it again.
 */
#include "guests/sampling/sampling.h"

#define ALL    256U
#define ECALL  257U
#define LCOFI  260U
#define CSR    262U
#define RAISED 267U
#define CODES  4U
#define ROUNDS 1000UL

static uint32_t ctr;
static uint64_t period, samples;
static bool look;

static void on_overflow(struct trap_frame *f)
{
	(void)f;
	samples++;
	pmu_stop(BIT(ctr));
	if (look)
		csr_read(CSR_SCOUNTOVF);
	csr_clear(sip, IRQ_LCOFI);
	pmu_start(BIT(ctr), -period);
}

static uint64_t value(uint32_t fw)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, fw, 0, 0, 0, 0).value;
}

static void take(const uint32_t *fw)
{
	uint64_t before[CODES];

	pmu_start(BIT(ctr), -period);
	samples = 0;
	for (uint32_t i = 0; i < CODES; i++)
		before[i] = value(fw[i]);
	user_run(user_code, ROUNDS, 0);
	/* The reads are calls, too. Each one sees those between its own first and second reading,
	 * which are CODES. */
	for (uint32_t i = 0; i < CODES; i++)
		before[i] = value(fw[i]) - before[i];
	print("period %u, scountovf %s: %u samples", period, look ? "read" : "not read", samples);
	print(", exits %u, by calls %u, by overflow %u, by CSR reads %u\n", before[0] - CODES,
	      before[1] - CODES, before[2], before[3]);
	pmu_stop(BIT(ctr));
	/* One may have come at the last instruction, the ecall. */
	csr_clear(sip, IRQ_LCOFI);
}

/* Two overflows before the guest takes the interrupt make it pending once. */
static void two_as_one(uint64_t hw, uint32_t fw)
{
	uint32_t other = configure(hw & ~BIT(ctr), SINH, EVENT_CYCLES);
	uint64_t before;

	samples = 0;
	csr_clear(sie, IRQ_LCOFI);
	before = value(fw);
	pmu_start(BIT(ctr), -10UL);
	pmu_start(BIT(other), -20UL);
	user_run(user_code, ROUNDS, 0);
	pmu_stop(BIT(other));
	print("two overflows, flags 0x%x: ",
	      csr_read(CSR_SCOUNTOVF) == (BIT(ctr) | BIT(other)) ? 3UL : 0UL);
	csr_set(sstatus, SSTATUS_SIE);
	period = 1UL << 40;
	csr_set(sie, IRQ_LCOFI);
	csr_clear(sstatus, SSTATUS_SIE);
	print("%u taken, made pending %u\n", samples, value(fw) - before);
}

int exits(void)
{
	static const uint32_t codes[CODES] = {ALL, ECALL, LCOFI, CSR};
	static const uint64_t periods[] = {1, 10, 200, 1000};
	uint32_t fw[CODES];
	uint64_t left = fw_counters();

	for (uint32_t i = 0; i < CODES; i++) {
		fw[i] = configure(left, 0, 0xf0000 | codes[i]);
		if (!fw[i])
			return 1;
		left &= ~BIT(fw[i]);
		pmu_start(BIT(fw[i]), 0);
	}
	ctr = configure(hw_counters(), SINH, EVENT_INSTRUCTIONS);
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	for (unsigned i = 0; i < 8; i++) {
		period = periods[i % 4];
		look = i / 4;
		take(fw);
	}
	fw[0] = configure(left, 0, 0xf0000 | RAISED);
	pmu_start(BIT(fw[0]), 0);
	two_as_one(hw_counters(), fw[0]);
	print("exits: ends\n");
	return 0;
}
