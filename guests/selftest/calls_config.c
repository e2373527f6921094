/* SPDX-License-Identifier: Apache-2.0 */
/* Section 11.8: which sets, flags and events are accepted. */
#include "guests/selftest/table.h"

#include "guests/lib/print.h"

#define INSTR EVENT_INSTRUCTIONS
#define SKIP  SBI_PMU_CFG_FLAG_SKIP_MATCH
#define AUTO  SBI_PMU_CFG_FLAG_AUTO_START
#define CLEAR SBI_PMU_CFG_FLAG_CLEAR_VALUE
#define SINH  SBI_PMU_CFG_FLAG_SET_SINH
#define BAD   SBI_ERR_INVALID_PARAM
#define NONE  SBI_ERR_NOT_SUPPORTED

static const struct pmu_case sets[] = {
    CONFIG("all hardware counters -> one of them", 0, M_HW, 0, INSTR, 0, 0, V_IN_SET),
    RESET_ALL,
    CONFIG("one counter -> that one", 0, M_C, 0, INSTR, 0, 0, W_C),
    RESET_ALL,
    CONFIG("base names the counter", W_C, 1, 0, INSTR, 0, 0, W_C),
    RESET_ALL,
    /* If there is no counter, no counter can monitor the event. */
    CONFIG("empty set -> NOT_SUPPORTED", 0, 0, 0, INSTR, 0, NONE, 0),
    CONFIG("empty set, base 2^64 - 1 -> NOT_SUPPORTED", ~0UL, 0, 0, INSTR, 0, NONE, 0),
    CONFIG("a hole alone -> INVALID_PARAM", 0, 2, 0, INSTR, 0, BAD, 0),
    CONFIG("a hole by base -> INVALID_PARAM", 1, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("a counter and a hole -> INVALID_PARAM", 0, M_C_HOLE, 0, INSTR, 0, BAD, 0),
    CONFIG("one past the last -> INVALID_PARAM", W_COUNTERS, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("the last and one past -> INVALID_PARAM", W_LAST, 3, 0, INSTR, 0, BAD, 0),
    CONFIG("mask of 64 -> INVALID_PARAM", 0, ~0UL, 0, INSTR, 0, BAD, 0),
    CONFIG("mask of bit 63 -> INVALID_PARAM", 0, 1UL << 63, 0, INSTR, 0, BAD, 0),
    CONFIG("base 64 -> INVALID_PARAM", 64, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("base 2^32 + 3 -> INVALID_PARAM", 0x100000003UL, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("base 2^63 -> INVALID_PARAM", 1UL << 63, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("base 2^64 - 1 -> INVALID_PARAM", ~0UL, 1, 0, INSTR, 0, BAD, 0),
    CONFIG("a hole and a bad event -> INVALID_PARAM", 0, M_C_HOLE, 0, 0, 0, BAD, 0),
    CONFIG("reserved flag bit 8 -> INVALID_PARAM", 0, M_C, 1UL << 8, INSTR, 0, BAD, 0),
    CONFIG("reserved flag bit 63 -> INVALID_PARAM", 0, M_C, 1UL << 63, INSTR, 0, BAD, 0),
    CONFIG("all reserved flags -> INVALID_PARAM", 0, M_C, ~0xffUL, INSTR, 0, BAD, 0),
    RESET_ALL,
    CONFIG("MINH is a hint", 0, M_C, SBI_PMU_CFG_FLAG_SET_MINH, INSTR, 0, 0, W_C),
    RESET_ALL,
    CONFIG("VUINH and VSINH are hints", 0, M_C,
           SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH, INSTR, 0, 0, W_C),
    RESET_ALL,
    CONFIG("every filter at once", 0, M_C, 0xf8, INSTR, 0, 0, W_C),
};

static const struct pmu_case events[] = {
    CONFIG("event 0 -> NOT_SUPPORTED", 0, M_HW, 0, 0, 0, NONE, 0),
    CONFIG("general event 11 -> NOT_SUPPORTED", 0, M_HW, 0, 11, 0, NONE, 0),
    CONFIG("general event 0xffff -> NOT_SUPPORTED", 0, M_HW, 0, 0xffff, 0, NONE, 0),
    CONFIG("general event with data -> NOT_SUPPORTED", 0, M_HW, 0, INSTR, 1, NONE, 0),
    RESET_ALL,
    CONFIG("event_idx bit 20 -> NOT_SUPPORTED", 0, M_HW, 0, INSTR | 1UL << 20, 0, NONE, 0),
    CONFIG("event_idx bit 63 -> NOT_SUPPORTED", 0, M_HW, 0, INSTR | 1UL << 63, 0, NONE, 0),
    RESET_ALL,
    CONFIG("cache event with data -> NOT_SUPPORTED", 0, M_HW, 0, W_EVENT, 1, NONE, 0),
    RESET_ALL,
    CONFIG("cache_id 7 -> NOT_SUPPORTED", 0, M_HW, 0, 0x10038, 0, NONE, 0),
    CONFIG("cache op_id 3 -> NOT_SUPPORTED", 0, M_HW, 0, 0x1001e, 0, NONE, 0),
    CONFIG("cache code 0xffff -> NOT_SUPPORTED", 0, M_HW, 0, 0x1ffff, 0, NONE, 0),
    CONFIG("raw event with a code -> NOT_SUPPORTED", 0, M_HW, 0, 0x20001, 2, NONE, 0),
    CONFIG("raw event with 49 bits -> NOT_SUPPORTED", 0, M_HW, 0, 0x20000, 1UL << 48, NONE, 0),
    CONFIG("raw v2 event with a code -> NOT_SUPPORTED", 0, M_HW, 0, 0x30001, 2, NONE, 0),
    CONFIG("raw v2 event with 57 bits -> NOT_SUPPORTED", 0, M_HW, 0, 0x30000, 1UL << 56, NONE, 0),
    CONFIG("type 4 -> NOT_SUPPORTED", 0, M_HW, 0, 0x40001, 0, NONE, 0),
    CONFIG("type 14 -> NOT_SUPPORTED", 0, M_HW, 0, 0xe0001, 0, NONE, 0),
    CONFIG("firmware event 22 -> NOT_SUPPORTED", 0, M_FW, 0, EVENT_FW(22), 0, NONE, 0),
    CONFIG("firmware event 255 -> NOT_SUPPORTED", 0, M_FW, 0, EVENT_FW(255), 0, NONE, 0),
    CONFIG("firmware event PLATFORM -> NOT_SUPPORTED", 0, M_FW, 0, EVENT_FW(65535), 1, NONE, 0),
    CONFIG("firmware event with data -> NOT_SUPPORTED", 0, M_FW, 0, EVENT_FW(5), 1, NONE, 0),
    RESET_ALL,
    CONFIG("firmware event, hardware set -> NOT_SUPPORTED", 0, M_HW, 0, EVENT_FW(5), 0, NONE, 0),
    CONFIG("hardware event, firmware set -> NOT_SUPPORTED", 0, M_FW, 0, INSTR, 0, NONE, 0),
    RESET_ALL,
    CONFIG("firmware event, firmware set -> one of it", 0, M_FW, 0, EVENT_FW(5), 0, 0, V_IN_SET),
    RESET_ALL,
    CONFIG("firmware event, both kinds in the set", 0, M_C_FW0, 0, EVENT_FW(5), 0, 0, W_FW0),
    RESET_ALL,
    CONFIG("hardware event, both kinds in the set", 0, M_C_FW0, 0, INSTR, 0, 0, W_C),
};

static const struct pmu_case states[] = {
    CONFIG("configured, not started: configure again", 0, M_C, 0, INSTR, 0, 0, W_C),
    CONFIG("configured, not started: with another event", 0, M_C, 0, EVENT_CYCLES, 0, 0, W_C),
    START("the counter that took another event", 0, M_C, 0, 0, 0),
    CONFIG("running: not chosen -> NOT_SUPPORTED", 0, M_C, 0, INSTR, 0, NONE, 0),
    CONFIG("running: not for its own event either", 0, M_C, 0, EVENT_CYCLES, 0, NONE, 0),
    RESET_ALL,
    CONFIG("one event twice, one filter: the first", 0, M_A, 0, INSTR, 0, 0, W_A),
    CONFIG("one event twice, one filter: the second", 0, M_C, 0, INSTR, 0, 0, W_C),
    RESET_ALL,
    CONFIG("one event, two filters: the first", 0, M_P, 0, W_EVENT, 0, 0, W_P),
};

static const struct pmu_case more_states[] = {
    RESET_ALL,
    CONFIG("the first filter away: the second is taken", 0, M_P, SINH, W_EVENT, 0, 0, W_P),
    RESET_ALL,
    CONFIG("SKIP_MATCH: the first of the set, unconfigured", 0, M_C_FW0, SKIP, INSTR, 0, 0, W_C),
    RESET_ALL,
    CONFIG("SKIP_MATCH after a match", 0, M_C, 0, INSTR, 0, 0, W_C),
    CONFIG("SKIP_MATCH: the first of the set, configured", 0, M_C_FW0, SKIP, INSTR, 0, 0, W_C),
    START("the counter that SKIP_MATCH chose", 0, M_C, 0, 0, 0),
    CONFIG("SKIP_MATCH: running, its own event", 0, M_C, SKIP | CLEAR, INSTR, 0, 0, W_C),
    CONFIG("SKIP_MATCH: running, another event -> NOT_SUPPORTED", 0, M_C, SKIP, EVENT_CYCLES, 0,
           NONE, 0),
    CONFIG("SKIP_MATCH: empty set -> NOT_SUPPORTED", 0, 0, SKIP, INSTR, 0, NONE, 0),
    CONFIG("SKIP_MATCH: a hole -> INVALID_PARAM", 0, 2, SKIP, INSTR, 0, BAD, 0),
    RESET_ALL,
    CONFIG("AUTO_START", 0, M_C, AUTO, INSTR, 0, 0, W_C),
    START("after AUTO_START -> ALREADY_STARTED", 0, M_C, 0, 0, SBI_ERR_ALREADY_STARTED),
    RESET_ALL,
    CONFIG("AUTO_START of a cache event", 0, M_P, AUTO, W_EVENT, 0, 0, W_P),
    STOP("after AUTO_START of a cache event", 0, M_P, 0, 0),
    RESET_ALL,
    CONFIG("AUTO_START of a firmware event", 0, M_FW0, AUTO, EVENT_FW(5), 0, 0, W_FW0),
    STOP("after AUTO_START of a firmware event", 0, M_FW0, 0, 0),
};

/* Any result except a counter of the set or NOT_SUPPORTED is wrong. Prints which it was. */
static void every_event(uint64_t first, uint64_t last, const char *name)
{
	uint64_t wrong = 0;

	for (uint64_t event = first; event <= last; event++) {
		struct sbiret r = pmu_config(fw.hw, 0, event);

		if (r.error == SBI_SUCCESS && r.value < 64 && (fw.hw >> r.value & 1))
			print("event 0x%x: counter %u\n", event, r.value);
		else if (r.error != SBI_ERR_NOT_SUPPORTED)
			print("event 0x%x: error %d value %u, %u wrong\n", event, r.error, r.value,
			      ++wrong);
		reset_all();
	}
	report_eq(wrong, 0, "11.8", name);
}

#define EVERY(what) "config_matching: every " what " event, a counter or NOT_SUPPORTED"

void test_calls_config(void)
{
	static const char *const cache[] = {
	    EVERY("L1D"),  EVERY("L1I"), EVERY("LL"),   EVERY("DTLB"),
	    EVERY("ITLB"), EVERY("BPU"), EVERY("NODE"),
	};

	every_event(0x1, 0xa, EVERY("general"));
	/* cache_id 0 to 6, op_id 0 to 2. Codes with op_id 3 have their own case. */
	for (uint64_t id = 0; id <= SBI_PMU_CACHE_ID_LAST; id++)
		every_event(0x10000 | id << 3, 0x10005 | id << 3, cache[id]);
	RUN_TABLE(sets);
	RUN_TABLE(events);
}

/*
 * Refused if the hart can count the event with one filter at a time only. For instructions and
 * cycles there may be a fixed counter as well.
 */
static void two_filters(void)
{
	static const char name[] = "config_matching: one event, two filters -> NOT_SUPPORTED";
	struct sbiret r = pmu_config(fw.hw, SINH, fw.event);

	if (lacks_filters("11.8", name))
		return;
	if (!fw.event)
		report_skip("11.8", name, "no event but cycles and instructions here");
	else if (!r.error && fw.many_filters)
		report_skip("11.8", name, "this hart counts an event under several filters");
	else
		report(r.error == SBI_ERR_NOT_SUPPORTED, "11.8", name);
}

void test_calls_states(void)
{
	run_rows(states, sizeof(states) / sizeof(states[0]));
	two_filters();
	RUN_TABLE(more_states);
}
