/* SPDX-License-Identifier: Apache-2.0 */
/*
 * million: asks event_get_info for `entries=` events in one call, of every kind in turn, and
 * compares each result with that of config_matching for its kind. Also prints what the call itself
 * counted. gaps: reads the time in a loop, and prints how long it did not run.
 */
#include "guests/bare/bare.h"

/* Above the program, below the device tree; the VM needs enough memory. */
#define TABLE  0x81000000UL
#define GUARD  64U /* entries before and after, which must not change */
#define BEFORE 0xa5a5a5a5U
#define KINDS  16U

struct entry {
	volatile uint32_t event_idx, output;
	volatile uint64_t event_data;
};

static const struct {
	uint32_t event_idx;
	uint64_t event_data;
} kinds[KINDS] = {
    {0x2, 0},     {0x4, 0},     {0x10019, 0}, {0x10000, 0}, {0xf0005, 0}, {0xf0016, 0},
    {0x1, 0},     {0x2, 1},     {0xf0100, 0}, {0x40001, 0}, {0x10021, 0}, {0x20000, 0x1234},
    {0xf010d, 0}, {0xf0110, 0}, {0, 0},       {0x1001b, 0},
};

static uint32_t can_be_counted(uint64_t counters, unsigned kind)
{
	struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, counters, 0,
	                          kinds[kind].event_idx, kinds[kind].event_data);

	if (r.error == SBI_SUCCESS)
		pmu_reset(BIT(r.value));
	return r.error == SBI_SUCCESS;
}

/* Makes one call. *counted becomes the instructions between two reads of the counter. */
static long ask(uint32_t ctr, struct entry *first, uint64_t n, uint64_t *counted)
{
	uint64_t before = counter_read(ctr);
	long error = sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)first, 0, n, 0, 0).error;

	*counted = counter_read(ctr) - before;
	return error;
}

int million(uint64_t hartid)
{
	struct entry *table = (struct entry *)TABLE;
	uint64_t n = bootarg_num("entries", 1000000), yes = 0, wrong = 0, begin, end;
	struct counters c = find_counters();
	uint32_t truth[KINDS], ctr;
	uint64_t of_one, of_all;
	long error;

	(void)hartid;
	for (unsigned i = 0; i < KINDS; i++)
		truth[i] = can_be_counted(c.hw | c.fw, i);
	for (uint64_t i = 0; i < n + 2 * GUARD; i++) {
		table[i].event_idx = kinds[i % KINDS].event_idx;
		table[i].output = BEFORE;
		table[i].event_data = kinds[i % KINDS].event_data;
	}
	ctr = (uint32_t)pmu_config(c.hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS).value;
	ask(ctr, &table[GUARD], 1, &of_one);
	begin = csr_read(time);
	error = ask(ctr, &table[GUARD], n, &of_all);
	end = csr_read(time);
	pmu_reset(BIT(ctr));
	for (uint64_t i = 0; i < n + 2 * GUARD; i++) {
		bool asked = i >= GUARD && i < GUARD + n;

		yes += asked && table[i].output == 1;
		wrong += table[i].output != (asked ? truth[i % KINDS] : BEFORE) ||
		         table[i].event_idx != kinds[i % KINDS].event_idx ||
		         table[i].event_data != kinds[i % KINDS].event_data;
	}
	print("million: %u entries: error %d, %u can be counted, %u wrong\n", n, error, yes, wrong);
	print("million: from %u to %u\n", begin, end);
	print("million: %u instructions more than the call for one entry\n", of_all - of_one);
	return wrong ? 1 : 0;
}

int gaps(uint64_t hartid)
{
	uint64_t begin = csr_read(time), last = begin, times = 0, away = 0, longest = 0;

	(void)hartid;
	while (last < end_time) {
		uint64_t now, gap;

		/* Not each round, because reading time is slow on an emulator that counts
		 * instructions. */
		for (volatile unsigned i = 0; i < 1000; i++)
			;
		now = csr_read(time);
		gap = now - last;
		last = now;
		if (gap < 1000)
			continue;
		times++;
		away += gap;
		if (gap > longest)
			longest = gap;
	}
	print("gaps: from %u to %u, away %u times", begin, last, times);
	print(", %u ticks, longest %u\n", away, longest);
	return 0;
}
