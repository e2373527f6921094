/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a counter counts in each mode, for each set of the five inhibit bits that a guest may ask
 * for. S and U run code of known length. HS and M work between two reads of the counter: the same
 * instructions of the guest cause little work there first, then much, and the difference is what
 * the counter counted of it. Prints a line for each. Nothing runs in U outside of guests.
 */
#include "guests/bare/bare.h"

#define LENGTH   1000UL
#define TIMES    100U
#define ONE_FLAG SBI_PMU_CFG_FLAG_SET_VUINH /* the lowest of five consecutive flags */

/* Instructions of 4 bytes that trap: to S, because EBREAK is delegated, and to M. */
#define EBREAK  0x00100073U
#define ILLEGAL 0xffffffffU

#define EVENT_HS_INSTRUCTIONS 0xf0109UL
#define EVENT_ILLEGAL         0xf0004UL

/* Not inlined, so that the instructions are the same for each call. */
static __attribute__((noinline)) uint64_t of_calls(uint32_t ctr, uint64_t ext, uint64_t fid)
{
	uint64_t before = counter_read(ctr);

	for (unsigned i = 0; i < TIMES; i++)
		sbi_call(ext, fid, 0, 0, 0, 0, 0, 0);
	return counter_read(ctr) - before;
}

static __attribute__((noinline)) uint64_t of_traps(uint32_t ctr, uint32_t insn)
{
	uint64_t before = counter_read(ctr);

	for (unsigned i = 0; i < TIMES; i++)
		insn_passes(insn, 0);
	return counter_read(ctr) - before;
}

static bool count(uint64_t hw, uint64_t event, uint64_t flags)
{
	struct sbiret r = pmu_config(hw, flags, event);
	uint32_t ctr = (uint32_t)r.value;
	uint64_t s, u, hs, m;

	print("filters: event 0x%x flags 0x%x: ", event, flags);
	if (r.error || pmu_start(BIT(ctr), 0)) {
		print("error %d\n", r.error);
		return false;
	}
	csr_write(scounteren, BIT(ctr) | 2);
	s = segment_of(ctr)(LENGTH);
	u = user_run(user_call, LENGTH, (uint64_t)segment_of(ctr));
	hs = of_calls(ctr, SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS) -
	     of_calls(ctr, SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I);
	m = of_traps(ctr, ILLEGAL) - of_traps(ctr, EBREAK);
	csr_write(scounteren, 2);
	pmu_reset(BIT(ctr));
	print("VS %u, VU %u, HS %d, M %d\n", s, u, hs, m);
	return true;
}

int filters(uint64_t hartid)
{
	struct counters c = find_counters();
	struct sbiret work = pmu_config(c.fw, 0, EVENT_HS_INSTRUCTIONS),
	              illegal = pmu_config(c.fw, 0, EVENT_ILLEGAL);
	uint64_t failed = 0;

	(void)hartid;
	if (work.error || illegal.error || pmu_start(BIT(work.value) | BIT(illegal.value), 0))
		return 1;
	for (uint64_t event = EVENT_CYCLES; event <= EVENT_INSTRUCTIONS; event++) {
		for (uint64_t flags = 0; flags <= SBI_PMU_CFG_FILTERS; flags += ONE_FLAG)
			failed += !count(c.hw, event, flags);
	}
	print("filters: ends; meanwhile %u instructions in HS and M",
	      sbi_pmu(SBI_PMU_COUNTER_FW_READ, work.value, 0, 0, 0, 0).value);
	print(", %u traps to M\n",
	      sbi_pmu(SBI_PMU_COUNTER_FW_READ, illegal.value, 0, 0, 0, 0).value);
	return failed ? 1 : 0;
}
