/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks config_matching and event_get_info for all events: general and cache, firmware events, raw
 * ones of both types whose data may be a standard event's, or a single event of Kunminghu; and raw
 * ones with `data0=` to `data3=`. Prints those that can be counted, and each for which the two
 * answers differ.
 */
#include "guests/bare/bare.h"

#define MOST   8192U
#define BEFORE 0xa5a5a5a5U

static struct {
	volatile uint32_t event_idx, output;
	volatile uint64_t event_data;
} entries[MOST] __attribute__((aligned(16)));
static uint32_t n;

static void add(uint32_t event_idx, uint64_t first, uint64_t last)
{
	for (uint64_t data = first; data <= last && n < MOST; data++) {
		entries[n].event_idx = event_idx;
		entries[n].output = BEFORE;
		entries[n++].event_data = data;
	}
}

static void add_codes(uint32_t first, uint32_t last)
{
	for (uint32_t event_idx = first; event_idx <= last; event_idx++)
		add(event_idx, 0, 0);
}

/* An event's number is in the low bits, its group in the upper bits of each of four fields. */
static void add_groups(uint32_t event_idx)
{
	for (uint64_t group = 0; group < 4; group++) {
		uint64_t base = group << 8 | group << 18 | group << 28 | group << 38;

		add(event_idx, base, base + 0xff);
	}
}

static void add_bootargs(uint32_t event_idx)
{
	static const char *const names[] = {"data0", "data1", "data2", "data3"};

	for (unsigned i = 0; i < 4; i++)
		if (bootarg(names[i]))
			add(event_idx, bootarg_num(names[i], 0), bootarg_num(names[i], 0));
}

static bool can_be_configured(uint64_t counters, uint32_t i)
{
	struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, counters, 0,
	                          entries[i].event_idx, entries[i].event_data);

	if (r.error == SBI_SUCCESS)
		pmu_reset(BIT(r.value));
	return r.error == SBI_SUCCESS;
}

int answers(uint64_t hartid)
{
	struct counters c = find_counters();
	uint32_t differ = 0;
	long error;

	(void)hartid;
	add_codes(0, 0x1f);
	add_codes(0x10000, 0x1007f);
	for (uint32_t type = 0x20000; type <= 0x30000; type += 0x10000) {
		add_groups(type);
		add(type, 0x10000, 0x1003f);
		add(type, 0x100000001, 0x100000002);
		add_bootargs(type);
	}
	add_codes(0x40000, 0x40002);
	add_codes(0xf0000, 0xf0020);
	add_codes(0xf00fe, 0xf0120);
	add_codes(0xfffff, 0xfffff);
	error = sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)entries, 0, n, 0, 0).error;
	for (uint32_t i = 0; i < n; i++) {
		bool counted = can_be_configured(c.hw | c.fw, i);

		if (entries[i].output != counted)
			differ++;
		if (counted || entries[i].output != counted)
			print("answers: 0x%x/0x%x: info %u, config %u\n",
			      (uint64_t)entries[i].event_idx, entries[i].event_data,
			      (uint64_t)entries[i].output, (uint64_t)counted);
	}
	print("answers: %u events, error %d, %u differ\n", (uint64_t)n, error, (uint64_t)differ);
	return differ ? 1 : 0;
}
