/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts code of known length on a firmware that sometimes refuses to start or stop a counter. Each
 * count must be exact, or the counter was refused, or its CSR is illegal. It must never be wrong.
 */
#include "guests/bare/bare.h"

static uint64_t exact, refused, lost, wrong;

static void judge(struct trap_seen seen, bool right)
{
	if (seen.cause != ~0UL)
		lost++;
	else if (right)
		exact++;
	else
		wrong++;
}

static uint64_t run(uint32_t ctr, uint64_t flags, uint64_t length)
{
	uint64_t counted;

	csr_write(scounteren, BIT(ctr) | 2);
	counted = flags & SBI_PMU_CFG_FLAG_SET_SINH
	              ? user_run(user_call, length, (uint64_t)segment_of(ctr))
	              : segment_of(ctr)(length);
	csr_write(scounteren, 2);
	return counted;
}

static void count(uint32_t ctr, uint64_t flags, uint64_t length)
{
	uint64_t counted;

	trap_guard();
	counted = run(ctr, flags, length);
	judge(trap_unguard(), counted == 2 * length + 1);
}

static void stand_still(uint32_t ctr, uint64_t length)
{
	uint64_t before, after;

	trap_guard();
	before = counter_read(ctr);
	for (volatile uint64_t i = 0; i < length; i++)
		;
	after = counter_read(ctr);
	judge(trap_unguard(), before == after);
}

static void round(uint64_t hw, uint64_t event, uint64_t flags, uint64_t value, uint64_t length)
{
	struct sbiret r = pmu_config(hw, flags, event);
	uint32_t ctr = (uint32_t)r.value;

	if (r.error || pmu_start(BIT(ctr), value)) {
		refused++;
	} else {
		count(ctr, flags, length);
		pmu_stop(BIT(ctr));
		stand_still(ctr, length);
		if (sbi_pmu(SBI_PMU_COUNTER_START, 0, BIT(ctr), 0, 0, 0).error)
			refused++;
		else
			count(ctr, flags, length);
	}
	if (!r.error)
		pmu_reset(BIT(ctr));
}

int faults(uint64_t hartid)
{
	static const uint64_t filters[] = {0, SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH};
	/* Far from the wrap, nearer to it, and so near that it wraps. */
	static const uint64_t values[] = {0x8000000000000001UL, 0, -1000UL};
	uint64_t hw = find_counters().hw, rounds = bootarg_num("rounds", 50),
	         length = bootarg_num("length", 100000);

	(void)hartid;
	for (uint64_t i = 0; i < rounds; i++)
		round(hw, i % 2 ? EVENT_CYCLES : EVENT_INSTRUCTIONS, filters[i % 3],
		      values[i / 6 % 3], length);
	print("faults: %u exact, %u refused, %u lost, ", exact, refused, lost);
	print("%u wrong\n", wrong);
	return wrong != 0;
}
