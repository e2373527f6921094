/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw events, on a machine whose firmware supports them. 1 is cycles and 2 is instructions there,
 * so code of known length shows whether they count. Prints a line for each.
 */
#include "guests/bare/bare.h"

#define RAW      0x20000UL
#define RAW_V2   0x30000UL
#define UINH     SBI_PMU_CFG_FLAG_SET_UINH
#define SINH     SBI_PMU_CFG_FLAG_SET_SINH
#define LENGTH   100000UL
#define ENTRIES  4000U
#define NO_EVENT 0x1234UL
#define NEARLY   0x100002UL /* the raw event of instructions with one more bit */

static uint64_t hw;

static struct sbiret config(uint64_t mask, uint64_t flags, uint64_t event, uint64_t data)
{
	return sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, mask, flags, event, data);
}

static void count(uint64_t event, uint64_t data, uint64_t flags)
{
	struct sbiret r = config(hw, flags, event, data);
	uint32_t ctr = (uint32_t)r.value;
	uint64_t s, u;

	print("raw: event 0x%x data 0x%x flags 0x%x: ", event, data, flags);
	if (r.error) {
		print("error %d\n", r.error);
		return;
	}
	pmu_start(BIT(ctr), 0x8000000000000001UL);
	csr_write(scounteren, BIT(ctr) | 2);
	s = segment_of(ctr)(LENGTH);
	u = user_run(user_call, LENGTH, (uint64_t)segment_of(ctr));
	csr_write(scounteren, 2);
	pmu_reset(BIT(ctr));
	print("S %u, U %u\n", s, u);
}

/* Configures the same event under two names, and executes an instruction that traps in between. */
static void both(uint64_t event, uint64_t data)
{
	struct sbiret a = config(hw, 0, data, 0), b = config(hw, 0, event, data);
	uint64_t n[2];

	print("raw: event 0x%x data 0x%x beside event 0x%x: ", event, data, data);
	if (a.error || b.error || a.value == b.value) {
		print("errors %d %d\n", a.error, b.error);
	} else {
		pmu_start(BIT(a.value) | BIT(b.value), 1000);
		segment_of((uint32_t)b.value)(LENGTH);
		segment_of((uint32_t)a.value)(LENGTH);
		csr_read(CSR_SCOUNTOVF);
		pmu_stop(BIT(a.value) | BIT(b.value));
		n[0] = counter_read((uint32_t)a.value);
		n[1] = counter_read((uint32_t)b.value);
		print("%u, apart by %u\n", n[0], n[1] - n[0]);
	}
	pmu_reset(hw);
}

/* Asks event_get_info: half of the events are unknown, the others are written in each way. */
static void info(const char *when)
{
	static struct {
		volatile uint32_t event_idx, output;
		volatile uint64_t event_data;
	} entries[ENTRIES] __attribute__((aligned(16)));
	uint64_t yes = 0, wrong = 0;
	long error;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		entries[i].event_idx = (uint32_t)(i & 1 ? RAW_V2 : RAW);
		entries[i].event_data = i & 2 ? NO_EVENT + i : 1 + (i >> 2 & 1);
		entries[i].output = 2;
	}
	error = sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)entries, 0, ENTRIES, 0, 0).error;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		yes += entries[i].output == 1;
		wrong += entries[i].output != !(i & 2);
	}
	print("raw: event info %s: error %d, %u of %u can be counted, %u wrong\n", when, error, yes,
	      (uint64_t)ENTRIES, wrong);
}

int raw_kind(uint64_t hartid)
{
	static const uint64_t types[] = {RAW, RAW_V2}, flags[] = {0, UINH, SINH, UINH | SINH};

	(void)hartid;
	hw = find_counters().hw;
	for (unsigned i = 0; i < 16; i++)
		count(types[i & 1], 1 + (i >> 1 & 1), flags[i >> 2]);
	for (unsigned i = 0; i < 4; i++)
		both(types[i & 1], 1 + (i >> 1 & 1));
	for (unsigned i = 0; i < 2; i++) {
		count(types[i], NO_EVENT, 0);
		count(types[i], NEARLY, 0);
	}
	info("with nothing configured");
	config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_CYCLES, 0);
	config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS, 0);
	info("while both are counted");
	pmu_reset(hw);
	print("raw: ends\n");
	return 0;
}
