/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control loop, with nothing to control: every `period=` ticks of its own timer it does a step of
 * `length=` rounds, `rounds=` times, and sleeps in between. Prints how late the latest step began,
 * in ticks, and how many exits there were in all steps.
 */
#include "guests/bare/bare.h"

#define EXITS 256UL /* docs/events.md */

/* Takes no interrupt: it ends the sleep, and is gone when the timer is set anew. */
static uint64_t wait_for(uint64_t due)
{
	uint64_t now;

	csr_write(0x14d, due); /* stimecmp */
	while ((now = csr_read(time)) < due)
		wfi();
	return now - due;
}

static void work(uint64_t length)
{
	while (length--)
		nop();
}

int steps_kind(uint64_t hartid)
{
	uint64_t period = bootarg_num("period", MS), length = bootarg_num("length", 1000);
	uint64_t rounds = bootarg_num("rounds", 1000), latest = 0, due, before, took;
	struct sbiret exits = pmu_config(find_counters().fw, 0, SBI_PMU_TYPE_FW << 16 | EXITS);

	(void)hartid;
	if (exits.error || pmu_start(BIT(exits.value), 0))
		return 1;
	csr_set(sie, IRQ_TIMER);
	before = sbi_pmu(SBI_PMU_COUNTER_FW_READ, exits.value, 0, 0, 0, 0).value;
	due = csr_read(time);
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t late = wait_for(due += period);

		latest = late > latest ? late : latest;
		work(length);
	}
	took = sbi_pmu(SBI_PMU_COUNTER_FW_READ, exits.value, 0, 0, 0, 0).value - before - 1;
	print("steps: %u steps, the latest %u ticks late, %u exits\n", rounds, latest, took);
	return 0;
}
