/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In what conforming harts differ, found out on this hart before cases ask for exact numbers. Each
 * count is taken by a stop and one read, which works on all firmware. A count that no conforming
 * hart gives is a failure.
 */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/trap.h"

#define SINH SBI_PMU_CFG_FLAG_SET_SINH
#define UINH SBI_PMU_CFG_FLAG_SET_UINH

/* Narrower counters hold fewer bits of an initial value. */
static void find_width(void)
{
	fw.value_mask = ~0UL;
	for (uint64_t i = 0; i < 32; i++) {
		uint64_t width;

		if (!((fw.hw | fw.fixed) >> i & 1))
			continue;
		width = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0).value >>
		        SBI_PMU_INFO_WIDTH_SHIFT;
		fw.value_mask &= ~0UL >> (63 - (width & 63));
	}
}

/* once.S: two instructions per round, four more, and what its two ECALLs add. */
static uint64_t once(uint64_t event)
{
	struct sbiret r = pmu_config(fw.any, 0, event);
	uint64_t n;

	if (r.error)
		return ~0UL;
	once_run(BIT(r.value), 1);
	n = counter_read((uint32_t)r.value);
	reset_all();
	return n;
}

/* Three instructions in U and an ECALL. Returns what a counter with SINH holds then. */
static uint64_t in_user(void)
{
	struct sbiret r = pmu_config(fw.any, SINH, EVENT_INSTRUCTIONS);
	uint64_t n;

	if (r.error)
		return ~0UL;
	pmu_start(BIT(r.value), 0);
	user_run(user_three, 0, 0);
	pmu_stop(BIT(r.value));
	n = counter_read((uint32_t)r.value);
	reset_all();
	return n;
}

/*
 * According to the ISA, ECALL does not retire. Some emulators count it on some counters. Whichever
 * it is, it must always be the same.
 */
static void find_ecall(void)
{
	uint64_t s = once(EVENT_INSTRUCTIONS), u = in_user();

	report(s == 6 || s == 7, "11.8", "instructions: six, and the ECALL that stops, or not");
	fw.ecall_s = s == 7;
	fw.filters = u < 10;
	if (fw.filters)
		report(u == 3 || u == 4, "11.8", "instructions: three in U, and the ECALL, or not");
	fw.ecall_u = u == 4;
	fw.cycles_are_instructions = once(EVENT_CYCLES) == s;
}

/* Whether each read adds all that was counted so far once more, as those of some KVMs do. */
static bool reads_add_up(void)
{
	struct sbiret r = pmu_config(fw.any, 0, EVENT_INSTRUCTIONS);
	uint64_t before, after;

	if (r.error)
		return false;
	pmu_start(BIT(r.value), 0);
	segment_of((uint32_t)r.value)(1000);
	before = counter_read((uint32_t)r.value);
	after = counter_read((uint32_t)r.value);
	reset_all();
	return after - before > 1000;
}

/* Whether each of three filters of one event counts at the same time. */
static bool counts_under_filters(void)
{
	static const uint64_t flags[3] = {0, UINH, SINH};
	uint64_t rest = fw.hw, mask = 0;
	uint32_t ctr[3];
	bool all = true;

	for (int i = 0; all && i < 3; i++) {
		struct sbiret r = pmu_config(rest, flags[i], EVENT_INSTRUCTIONS);

		all = !r.error && r.value < 32 && (rest >> r.value & 1);
		if (!all)
			break;
		ctr[i] = (uint32_t)r.value;
		mask |= BIT(r.value);
		rest &= ~BIT(r.value);
	}
	if (all) {
		pmu_start(mask, 0);
		user_run(user_three, 0, 0);
		pmu_stop(mask);
		for (int i = 0; i < 3; i++)
			all &= counter_read(ctr[i]) != 0;
	}
	reset_all();
	return all;
}

/* Returns another event on a programmable counter, preferably TLB misses. */
static uint64_t another_event(void)
{
	uint64_t found = 0;

	for (uint64_t code = 0; code <= 0x36 && !found; code++) {
		/* First cache events, without op_id 3, then general ones. */
		uint64_t event = 0x10000 | ((code + 0x19) % 0x37);

		if ((event >> 1 & 3) != 3 && !pmu_config(BIT(fw.p), 0, event).error)
			found = event;
		reset_all();
	}
	for (uint64_t event = 3; event <= 10 && !found; event++) {
		if (!pmu_config(BIT(fw.p), 0, event).error)
			found = event;
		reset_all();
	}
	return found;
}

static bool can_be_interrupted(void)
{
	bool can;

	csr_set(sie, IRQ_LCOFI);
	can = csr_read(sie) & IRQ_LCOFI;
	csr_clear(sie, IRQ_LCOFI);
	return can;
}

static const char *yes(bool it_is)
{
	return it_is ? "yes" : "no";
}

void find_hart(void)
{
	find_width();
	find_ecall();
	fw.many_filters = fw.filters && counts_under_filters();
	fw.event = another_event();
	fw.lcofi = can_be_interrupted();
	fw.reads_add_up = fw.impl_id == IMP_KVM && reads_add_up();
	print("hart: values up to 0x%x, another event 0x%x", fw.value_mask, fw.event);
	print(", filters %s, several of one event %s\n", yes(fw.filters), yes(fw.many_filters));
	print("hart: ECALL counts: in S %s, in U %s", yes(fw.ecall_s), yes(fw.ecall_u));
	print("; cycles are instructions: %s", yes(fw.cycles_are_instructions));
	print("; sie bit 13: %s\n", yes(fw.lcofi));
}

bool lacks_filters(const char *section, const char *what)
{
	if (!fw.filters)
		report_skip(section, what, "this hart leaves no mode out of a count");
	return !fw.filters;
}
