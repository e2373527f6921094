/* SPDX-License-Identifier: Apache-2.0 */
/* Section 11.14: which events can be counted. */
#include "guests/selftest/table.h"

#include "guests/lib/print.h"

#define ENTRIES 300U /* on more than one page */
#define BEFORE  0xa5a5a5a5U

static struct entry {
	volatile uint32_t event_idx;
	volatile uint32_t output;
	volatile uint64_t event_data;
} entries[ENTRIES] __attribute__((aligned(16)));

#define TABLE ((unsigned long)entries)
#define BAD   SBI_ERR_INVALID_PARAM
#define ADDR  SBI_ERR_INVALID_ADDRESS
#define NONE  SBI_ERR_NOT_SUPPORTED

static const struct pmu_case not_offered[] = {
    INFO("no entry -> NOT_SUPPORTED", TABLE, 0, 0, 0, NONE),
    INFO("one entry -> NOT_SUPPORTED", TABLE, 0, 1, 0, NONE),
    INFO("a misaligned address -> NOT_SUPPORTED", TABLE + 8, 0, 1, 0, NONE),
    INFO("flags -> NOT_SUPPORTED", TABLE, 0, 1, 1, NONE),
};

static const struct pmu_case errors[] = {
    INFO("flags bit 0 -> INVALID_PARAM", TABLE, 0, 1, 1, BAD),
    INFO("flags bit 63 -> INVALID_PARAM", TABLE, 0, 1, 1UL << 63, BAD),
    INFO("misaligned by 1 -> INVALID_PARAM", TABLE + 1, 0, 1, 0, BAD),
    INFO("misaligned by 8 -> INVALID_PARAM", TABLE + 8, 0, 1, 0, BAD),
    INFO("upper half 1 -> INVALID_ADDRESS", TABLE, 1, 1, 0, ADDR),
    INFO("no entry", TABLE, 0, 0, 0, 0),
};

static void put(uint32_t i, uint32_t event_idx, uint64_t event_data)
{
	entries[i].event_idx = event_idx;
	entries[i].output = BEFORE;
	entries[i].event_data = event_data;
}

static long ask(uint32_t first, uint64_t n)
{
	return sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)&entries[first], 0, n, 0, 0).error;
}

static bool can_be_configured(uint32_t event_idx, uint64_t event_data)
{
	struct sbiret r =
	    sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, fw.any | fw.fw, 0, event_idx, event_data);

	if (r.error == SBI_SUCCESS)
		pmu_reset(BIT(r.value));
	return r.error == SBI_SUCCESS;
}

/* Whether event_get_info says of each event of a kind what config_matching says. */
static void truth(const char *name, uint32_t first, uint32_t last, uint64_t event_data)
{
	uint32_t yes = 0, wrong = 0;

	for (uint32_t event = first; event <= last; event++) {
		bool can = can_be_configured(event, event_data);

		put(0, event, event_data);
		if (ask(0, 1) != SBI_SUCCESS || entries[0].output != can) {
			print("event 0x%x: event info says 0x%x\n", event, entries[0].output);
			wrong++;
		}
		yes += can;
	}
	print("event info: %u of %u from 0x%x on can be counted\n", (uint64_t)yes,
	      (uint64_t)last - first + 1, (uint64_t)first);
	report(wrong == 0, "11.14", name);
}

static void reserved_bits(void)
{
	uint32_t wrong = 0;

	for (uint32_t bit = 20; bit < 32; bit++) {
		put(0, EVENT_INSTRUCTIONS, 0);
		put(1, EVENT_INSTRUCTIONS | 1U << bit, 0);
		put(2, EVENT_INSTRUCTIONS, 0);
		if (ask(0, 3) != SBI_ERR_INVALID_PARAM || entries[1].output != BEFORE ||
		    entries[2].output != BEFORE)
			wrong++;
	}
	report(wrong == 0, "11.14", "event_get_info: a reserved bit -> INVALID_PARAM");
}

/* Entries 1 to n, between others that must not change. */
static void many(uint32_t n, const char *name)
{
	bool ok, misses = can_be_configured(0x4, 0);

	for (uint32_t i = 0; i < ENTRIES; i++)
		put(i, i % 2 ? EVENT_INSTRUCTIONS : 0x4, 0);
	ok = ask(1, n) == SBI_SUCCESS;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t want = i < 1 || i > n ? BEFORE : i % 2 ? 1 : misses;

		ok = ok && entries[i].output == want && entries[i].event_data == 0 &&
		     entries[i].event_idx == (i % 2 ? EVENT_INSTRUCTIONS : 0x4);
	}
	report(ok, "11.14", name);
}

/* The firmware below is asked about each of them, and a guest may ask about many. */
static void many_raw(void)
{
	uint64_t said = 0;
	bool ok;

	pmu_config(fw.any, 0, EVENT_INSTRUCTIONS);
	pmu_config(fw.any, 0, EVENT_CYCLES);
	for (uint32_t i = 0; i < ENTRIES; i++)
		put(i, i % 2 ? 0x20000 : 0x30000, 0x1000 + i);
	ok = ask(0, ENTRIES) == SBI_SUCCESS;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		ok = ok && entries[i].output <= 1;
		said += entries[i].output;
	}
	print("event info: %u of %u raw events can be counted\n", said, (uint64_t)ENTRIES);
	report(ok, "11.14", "event_get_info: 300 raw events");
	reset_all();
}

/* The result does not depend on what counts already. */
static void counters_in_use(void)
{
	pmu_config(fw.any, 0, EVENT_INSTRUCTIONS);
	while (!pmu_config(fw.fw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_FW(5)).error)
		;
	put(0, EVENT_FW(5), 0);
	put(1, EVENT_INSTRUCTIONS, 0);
	ask(0, 2);
	report(entries[0].output == 1 && entries[1].output == 1, "11.14",
	       "event_get_info: counters in use do not change the answer");
	reset_all();
}

void test_event_info(void)
{
	if (ask(0, 0) == SBI_ERR_NOT_SUPPORTED) {
		RUN_TABLE(not_offered);
		report_skip("11.14", "event info", "this optional function is not offered");
		return;
	}
	RUN_TABLE(errors);
	truth("event_get_info: general events, as config_matching", 0, 11, 0);
	truth("event_get_info: cache events, as config_matching", 0x10000, 0x1003f, 0);
	truth("event_get_info: raw events, as config_matching", 0x20000, 0x20001, 0x1234);
	truth("event_get_info: raw v2 events, as config_matching", 0x30000, 0x30001, 0x1234);
	truth("event_get_info: raw v1 of 49 bits, as config_matching", 0x20000, 0x20000, 1UL << 48);
	truth("event_get_info: raw v2 of 57 bits, as config_matching", 0x30000, 0x30000, 1UL << 56);
	truth("event_get_info: firmware events, as config_matching", 0xf0000, 0xf0020, 0);
	truth("event_get_info: Tally's own events, as config_matching", 0xf0100, 0xf0120, 0);
	truth("event_get_info: firmware event PLATFORM, as config_matching", 0xfffff, 0xfffff, 1);
	truth("event_get_info: other types, as config_matching", 0x40000, 0x40002, 0);
	reserved_bits();
	many(1, "event_get_info: one entry, and no other is touched");
	many(32, "event_get_info: 32 entries");
	many(33, "event_get_info: 33 entries");
	many(ENTRIES - 2, "event_get_info: 298 entries, over pages");
	many_raw();
	counters_in_use();
}
