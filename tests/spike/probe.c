/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what the platform does with one event on two counters, and with a counter whose event
 * changes. The firmware cleans up: configure, start, stop with RESET.
 */
#include "tests/spike/spike.h"

#define SPARE_A 5U
#define SPARE_B 6U
#define HS_ONLY                                                                                    \
	(SBI_PMU_CFG_FLAG_SET_MINH | SBI_PMU_CFG_FLAG_SET_VSINH | SBI_PMU_CFG_FLAG_SET_VUINH)

static void work(void)
{
	for (int i = 0; i < 1000; i++)
		__asm__ volatile("nop");
}

static void clean(uint32_t ctr, uint32_t event)
{
	pmu_stop(1UL << ctr, SBI_PMU_STOP_FLAG_RESET);
	pmu_config(ctr, event, HS_ONLY);
	pmu_start(1UL << ctr, SBI_PMU_START_SET_INIT_VALUE, 0);
	pmu_stop(1UL << ctr, SBI_PMU_STOP_FLAG_RESET);
}

void test_probe(void)
{
	uint64_t first, second, same;
	bool one_counter, sticky;

	/* One event on two counters. */
	pmu_config(SPARE_A, 0x2, HS_ONLY);
	pmu_config(SPARE_B, 0x2, HS_ONLY);
	pmu_start((1UL << SPARE_A) | (1UL << SPARE_B), SBI_PMU_START_SET_INIT_VALUE, 0);
	work();
	first = hpm_read(SPARE_A);
	second = hpm_read(SPARE_B);
	pmu_stop((1UL << SPARE_A) | (1UL << SPARE_B), SBI_PMU_STOP_FLAG_RESET);
	one_counter = first > 1000 && second == 0;
	print("one event on two counters: %u and %u\n", first, second);
	check(first > 1000, "the first counter of an event counts");

	/*
	 * Event A, then B (a TLB event), on one counter, with the delegated registers. The firmware
	 * configures A first, so that MINH is set as on every counter in use.
	 */
	pmu_config(SPARE_A, 0x2, HS_ONLY);
	csr_write(CSR_SISELECT, 0x40 + SPARE_A);
	csr_write(CSR_SIREG, 0);
	csr_clear(CSR_SCOUNTINHIBIT, 1UL << SPARE_A);
	work();
	csr_set(CSR_SCOUNTINHIBIT, 1UL << SPARE_A);
	csr_write(CSR_SIREG2, 0);
	csr_write(CSR_SIREG2, ssccfg_selector(0x1001b) | EVENT_OF | EVENT_VSINH | EVENT_VUINH);
	csr_write(CSR_SIREG, 0);
	csr_clear(CSR_SCOUNTINHIBIT, 1UL << SPARE_A);
	work();
	csr_set(CSR_SCOUNTINHIBIT, 1UL << SPARE_A);
	same = hpm_read(SPARE_A);
	sticky = same > 1000;
	print("instructions, then dTLB write misses, on one counter: %u\n", same);
	clean(SPARE_A, 0x2);
	clean(SPARE_A, 0x1001b);

	print("one counter per event: %s\n", one_counter ? "yes" : "no");
	print("sticky map: %s\n", sticky ? "yes" : "no");

	/* The same is right if the firmware does it, because it resets in between. */
	pmu_config(SPARE_A, 0x2, HS_ONLY);
	pmu_start(1UL << SPARE_A, SBI_PMU_START_SET_INIT_VALUE, 0);
	work();
	pmu_stop(1UL << SPARE_A, SBI_PMU_STOP_FLAG_RESET);
	pmu_config(SPARE_A, 0x1001b, HS_ONLY);
	pmu_start(1UL << SPARE_A, SBI_PMU_START_SET_INIT_VALUE, 0);
	work();
	same = hpm_read(SPARE_A);
	pmu_stop(1UL << SPARE_A, SBI_PMU_STOP_FLAG_RESET);
	check(same < 100, "by the firmware a counter may change its event");

	/* After the clean-up any counter can count the event again, in both ways. */
	pmu_config(SPARE_B, 0x2, HS_ONLY);
	pmu_start(1UL << SPARE_B, SBI_PMU_START_SET_INIT_VALUE, 0);
	work();
	second = hpm_read(SPARE_B);
	pmu_stop(1UL << SPARE_B, SBI_PMU_STOP_FLAG_RESET);
	check(second > 1000 && second < 10000, "cleaned by the firmware: the event moves");
}
