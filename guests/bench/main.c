/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SBI PMU calls cost, in instructions of all privilege levels together. Runs on any firmware.
 *
 * Under -icount shift=0 an instruction is a nanosecond, and `time` ticks every 100. Each operation
 * is timed by itself some thousand times at every phase of the tick, so that the mean is exact to
 * a fraction of an instruction; what an empty operation costs is taken off.
 * A line a row: "bench NAME TENTHS", the cost in tenths of an instruction.
 */
#include "guests/bench/bench.h"

static uint64_t empty_cost; /* in ticks, of ROUNDS rounds */

/* pad nops, 0..99, so that each phase of the tick comes equally often. */
static inline void shift_phase(uint64_t pad)
{
	for (uint64_t i = 0; i < pad; i++)
		__asm__ volatile("");
}

static uint64_t ticks(const struct row *row, uint64_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		if (row->before)
			row->before();
		shift_phase(i % 100);
		uint64_t start = csr_read(time);

		row->op();
		sum += csr_read(time) - start;
		if (row->after)
			row->after();
	}
	return sum;
}

static void nothing(void)
{
}

void bench(const struct row *row)
{
	uint64_t rounds = row->rounds ? row->rounds : ROUNDS;

	if (!empty_cost)
		empty_cost = ticks(&(struct row){.op = nothing}, ROUNDS);
	(void)ticks(row, 3);
	uint64_t sum = ticks(row, rounds);
	uint64_t tenths = sum * 1000 / rounds;
	uint64_t empty = empty_cost * 1000 / ROUNDS;

	print("bench %s %u\n", row->name, tenths > empty ? tenths - empty : 0);
}

int guest_main(uint64_t hartid)
{
	bench_calls(hartid);
	bench_pmu();
	bench_overflow();
	print("bench done\n");
	return 0;
}
