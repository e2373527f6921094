/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes exits of known kinds, so many of each, for who counts them from beside.
 *   rounds=N       how often all of them
 *   hostile=yes    besides, calls of ever other extensions and functions
 *   repeat=yes     for ever
 */
#include "guests/bare/bare.h"

#define PLIC     0x0c000000UL
#define PRIORITY (*(volatile uint32_t *)(PLIC + 4))
#define MIXED    0x9e3779b97f4a7c15UL

static void call(uint64_t eid, uint64_t fid, uint64_t a0, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		sbi_call(eid, fid, a0, 0, 0, 0, 0, 0);
}

static void ask(uint64_t hartid)
{
	call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 1);
	call(SBI_EXT_HSM, SBI_HSM_HART_GET_STATUS, hartid, 2);
	call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 3);
	call(SBI_EXT_PMU, 12, 0, 4);
	call(0x1234, 0, 0, 5);
	for (uint64_t i = 0; i < 6; i++)
		(void)PRIORITY;
	for (uint64_t i = 0; i < 7; i++)
		PRIORITY = 1;
	for (uint64_t i = 0; i < 8; i++)
		(void)csr_read(0xda0);
}

/* Numbers of all 64 bits, of which none is an extension's. */
static void ask_for_all(uint64_t times)
{
	for (uint64_t i = 1; i <= times; i++) {
		call(i * MIXED | 1UL << 63, i * MIXED, 0, 1);
		call(SBI_EXT_HSM, i * MIXED | 1UL << 63, 0, 1);
		call(SBI_EXT_BASE, 15 + i, 0, 1);
	}
}

int asks(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 1);

	do {
		for (uint64_t i = 0; i < rounds; i++)
			ask(hartid);
		if (bootarg("hostile"))
			ask_for_all(rounds);
	} while (bootarg("repeat"));
	return 0;
}
