/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of SBI PMU calls, in instructions of all privilege modes together. Runs on any firmware.
 *
 * With -icount shift=0 an instruction takes a nanosecond, and `time` ticks every 100. Each
 * operation is timed some thousand times. The length of a round is chosen so that each begins one
 * instruction later in the tick than the one before. So 100 rounds begin at every phase of the tick
 * once, and their mean is the exact number of instructions. The cost of an empty operation is
 * subtracted. Each row prints a line "bench NAME TENTHS", the cost in tenths of an instruction.
 * Bootargs: rows=reads is for a VM whose counter reads trap, rows=switch for world switches,
 * rows=aia for one with an AIA, and rows=calls leaves out the rows that wait for overflows.
 * only=NAME runs one row. rounds=N, a multiple of 100, is for machines with slow calls.
 */
#include "guests/bench/bench.h"

#define TICK 100UL /* instructions */

static uint64_t empty_cost; /* in ticks, of ROUNDS rounds */

/* Executes n + 3 instructions. */
static inline void nops(uint64_t n)
{
	__asm__ volatile("	.option push\n"
	                 "	.option norvc\n"
	                 "	la	t0, 1f\n"
	                 "	sub	t0, t0, %0\n"
	                 "	jr	t0\n"
	                 "	.rept	100\n"
	                 "	nop\n"
	                 "	.endr\n"
	                 "1:\n"
	                 "	.option pop\n" ::"r"(4 * n)
	                 : "t0");
}

/* Returns the ticks that the operation took in so many rounds. Not inlined, because a copy made for
 * one row would have rounds of another length. */
static __attribute__((noinline, noclone)) uint64_t ticks(const struct row *row, uint64_t rounds,
                                                         uint64_t pad)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		if (row->before)
			row->before();
		nops(pad);
		uint64_t start = csr_read(time);

		row->op();
		sum += csr_read(time) - start;
		if (row->after)
			row->after();
	}
	return sum;
}

static uint64_t measure(const struct row *row, uint64_t rounds)
{
	uint64_t start = csr_read(time), length;

	(void)ticks(row, rounds, 0);
	length = ((csr_read(time) - start) * TICK + rounds / 2) / rounds;
	/* Then a round is one instruction longer than a whole number of ticks. */
	return ticks(row, rounds, (2 * TICK + 1 - length % TICK) % TICK);
}

static void nothing(void)
{
}

void bench(const struct row *row)
{
	const char *only = bootarg("only");
	uint64_t most = bootarg_num("rounds", ROUNDS);
	uint64_t rounds = row->rounds && row->rounds < most ? row->rounds : most;

	if (only && !bootarg_is("only", row->name))
		return;
	if (!empty_cost)
		empty_cost = measure(&(struct row){.op = nothing}, ROUNDS);
	(void)ticks(row, 3, 0);
	uint64_t sum = measure(row, rounds);
	uint64_t tenths = sum * 1000 / rounds;
	uint64_t empty = empty_cost * 1000 / ROUNDS;

	print("bench %s %u\n", row->name, tenths > empty ? tenths - empty : 0);
}

static uint64_t hw, fw; /* masks of counters */

static void find_counters(void)
{
	uint64_t n = sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;

	for (uint64_t i = 3; i < n && i < 64; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (!r.error)
			*(r.value & SBI_PMU_INFO_TYPE_FW ? &fw : &hw) |= BIT(i);
	}
}

int guest_main(uint64_t hartid)
{
	find_counters();
	if (bootarg_is("rows", "reads")) {
		bench_first(hw);
		bench_read_by_policy(hw);
	} else if (bootarg_is("rows", "switch")) {
		bench_switch(hw, fw);
	} else if (bootarg_is("rows", "aia")) {
		bench_registers(hw);
	} else {
		bench_calls(hartid);
		bench_reads(hw);
		bench_pmu(hw, fw);
		bench_registers(hw);
		if (!bootarg_is("rows", "calls"))
			bench_overflow();
	}
	print("bench done\n");
	return 0;
}
