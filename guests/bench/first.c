/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of what happens once in a VM's life, and so cannot be timed by repeating it. The operation
 * begins at a tick, and loops of three instructions are counted from its end to the next tick.
 */
#include "guests/bench/bench.h"

#define TICK 100UL /* instructions */

/* Waits for the next tick of `time`, and returns it. *loops becomes the number of loops. */
static uint64_t next_tick(uint64_t *loops)
{
	uint64_t start, now, n = 0;

	__asm__ volatile("	csrr	%1, time\n"
	                 "1:	csrr	%0, time\n"
	                 "	addi	%2, %2, 1\n"
	                 "	beq	%0, %1, 1b\n"
	                 : "=&r"(now), "=&r"(start), "+r"(n));
	*loops = n;
	return now;
}

/* Returns the cost of config_matching and of reading the time. 0: no event, only the time. */
static uint64_t price(uint64_t hw, uint64_t event)
{
	uint64_t loops, start = next_tick(&loops), end;

	if (event)
		hw = BIT(pmu_config(hw, SBI_PMU_CFG_FLAG_SET_UINH, event).value);
	end = next_tick(&loops);
	if (event)
		pmu_reset(hw);
	return (end - start) * TICK - 3 * loops;
}

/* Prints the mean cost of the first config_matching of each of four events. */
void bench_first(uint64_t hw)
{
	static const uint64_t events[] = {2, 0x10019, 0x1001b, 0x10021};
	const unsigned n = sizeof(events) / sizeof(events[0]);
	uint64_t spent = 0;

	for (unsigned i = 0; i < n; i++)
		spent += price(hw, events[i]) - price(hw, 0);
	print("bench config-first %u\n", spent * 10 / n);
}
