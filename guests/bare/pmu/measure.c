/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts code of known length with each filter, again and again, and prints the numbers. The code
 * is long enough for other guests to run in between.
 */
#include "guests/bare/bare.h"

struct counts {
	uint64_t s, u;
	uint64_t odd; /* of 1,000 reads in a row: how many did not differ by five */
};

static uint64_t reads_in_a_row(uint32_t ctr, uint64_t step)
{
	static uint64_t values[1000];
	uint64_t odd = 0;

	reads_of(ctr)(values, 1000);
	for (int i = 1; i < 1000; i++)
		odd += values[i] - values[i - 1] != step;
	return odd;
}

static bool count(uint64_t hw, uint64_t event, uint64_t flags, uint64_t length, struct counts *c)
{
	struct sbiret r = pmu_config(hw, flags, event);
	uint32_t ctr = (uint32_t)r.value;

	if (r.error || pmu_start(BIT(ctr), 0x8000000000000001UL))
		return false;
	csr_write(scounteren, BIT(ctr) | 2);
	c->s = segment_of(ctr)(length);
	c->u = user_run(user_call, length, (uint64_t)segment_of(ctr));
	c->odd = reads_in_a_row(ctr, flags & SBI_PMU_CFG_FLAG_SET_SINH ? 0 : 5);
	csr_write(scounteren, 2);
	return !pmu_reset(BIT(ctr));
}

int measure(uint64_t hartid)
{
	static const uint64_t filters[] = {0, SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH,
	                                   SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_SINH};
	uint64_t hw = find_counters().hw, rounds = bootarg_num("rounds", 3),
	         length = bootarg_num("length", 1000000), wrong = 0;

	(void)hartid;
	for (uint64_t i = 0; i < 8 * rounds; i++) {
		uint64_t event = i % 8 < 4 ? EVENT_INSTRUCTIONS : EVENT_CYCLES,
		         flags = filters[i % 4];
		struct counts c = {0, 0, 0};
		bool ok = count(hw, event, flags, length, &c);

		ok &= c.s == (flags & SBI_PMU_CFG_FLAG_SET_SINH ? 0 : 2 * length + 1);
		ok &= c.u == (flags & SBI_PMU_CFG_FLAG_SET_UINH ? 0 : 2 * length + 1);
		ok &= c.odd == 0;
		wrong += !ok;
		print("measure: round %u event 0x%x flags 0x%x", i / 8, event, flags);
		print(": S %u, U %u, odd reads %u%s\n", c.s, c.u, c.odd, ok ? "" : " WRONG");
	}
	print("measure: ends, %u wrong of %u\n", wrong, 8 * rounds);
	return wrong ? 1 : 0;
}
