/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflow of cache events. QEMU cannot deliver it with -icount: arming such a counter ends the
 * emulator at the wrap. Not for plain firmware, which arms it.
 */
#include "guests/bare/bare.h"

#define DTLB_READ_MISS 0x10019UL

static struct sbiret config_any(uint64_t event_idx)
{
	return sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, find_counters().hw, 0, event_idx, 0);
}

static void miss(uint64_t n)
{
	volatile char *memory = (volatile char *)0x80800000;

	for (uint64_t i = 0; i < n; i++) {
		__asm__ volatile("sfence.vma" ::: "memory");
		memory[(i % 64) * 4096] = 1;
	}
}

/* The counter starts near its wrap, stops, continues without a value, and wraps. */
int cachewrap(uint64_t hartid)
{
	uint64_t counter = config_any(DTLB_READ_MISS).value;

	(void)hartid;
	sbi_pmu(SBI_PMU_COUNTER_START, counter, 1, SBI_PMU_START_SET_INIT_VALUE, -4UL, 0);
	sbi_pmu(SBI_PMU_COUNTER_STOP, counter, 1, 0, 0, 0);
	sbi_pmu(SBI_PMU_COUNTER_START, counter, 1, 0, 0, 0);
	miss(200);
	print("cachewrap: ends\n");
	return 0;
}

/* The overflow of another counter must not set OF of a cache counter that did not wrap. */
int falseflag(uint64_t hartid)
{
	uint64_t cache = config_any(DTLB_READ_MISS).value;
	uint64_t insns = config_any(SBI_PMU_HW_INSTRUCTIONS).value;

	(void)hartid;
	sbi_pmu(SBI_PMU_COUNTER_START, cache, 1, SBI_PMU_START_SET_INIT_VALUE, 0xfffffffff0000000UL,
	        0);
	sbi_pmu(SBI_PMU_COUNTER_START, insns, 1, SBI_PMU_START_SET_INIT_VALUE, -1001UL, 0);
	for (volatile int i = 0; i < 5000; i++)
		;
	print("falseflag: scountovf is %s\n",
	      insn_run(INSN_CSRR_A0(CSR_SCOUNTOVF), 0) == BIT(insns) ? "right" : "wrong");
	return 0;
}

/* Time must not go backwards, whatever other harts do. */
int clockcheck(uint64_t hartid)
{
	uint64_t last = csr_read(time);

	(void)hartid;
	while (!time_is_up()) {
		uint64_t now = csr_read(time);

		if (now < last) {
			print("clock: went back\n");
			return 1;
		}
		last = now;
	}
	print("clock: ends\n");
	return 0;
}
