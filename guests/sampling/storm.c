/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that samples as often as it can, and another that measures its own speed beside it. */
#include "guests/sampling/sampling.h"

static uint64_t mask, period, taken;

static void on_overflow(struct trap_frame *f)
{
	(void)f;
	taken++;
	pmu_stop(mask);
	csr_clear(sip, IRQ_LCOFI);
	pmu_start(mask, -period);
}

/* For `ticks=`: takes a sample every `period=` instructions of U. 0: runs the same code without. */
int storm(void)
{
	uint64_t ticks = bootarg_num("ticks", 100000), since = csr_read(time), runs = 0;

	period = bootarg_num("period", 1);
	mask = BIT(configure(hw_counters(), SINH, EVENT_INSTRUCTIONS));
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	if (period)
		pmu_start(mask, -period);
	for (uint64_t now = since; now - since < ticks; now = csr_read(time), runs++)
		user_run(user_code, 50, 0);
	print("storm: %u samples, %u instructions\n", taken, 101 * runs);
	return 0;
}

/* Returns how many rounds of a loop it executes in `ticks=`. */
int pace(void)
{
	uint64_t ticks = bootarg_num("ticks", 100000), since = csr_read(time), runs = 0;

	for (uint64_t now = since; now - since < ticks; now = csr_read(time), runs++)
		user_run(user_code, 500, 0);
	print("pace: %u runs\n", runs);
	return 0;
}
