/* SPDX-License-Identifier: Apache-2.0 */
/* Section 11.13, and the snapshot flags of 11.9 and 11.10: the memory shared with the PMU. */
#include "guests/selftest/table.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"

#define PAGE_SIZE 4096UL
#define SLOTS     64U
#define NOWHERE   0x4000000000UL /* 256 GiB, outside any guest's RAM */
#define PATTERN   0x5a5a5a5a5a5a5a5aUL

static struct {
	volatile uint64_t bitmap;
	volatile uint64_t values[SLOTS];
	volatile uint64_t rest[512 - 1 - SLOTS];
} page __attribute__((aligned(4096)));

#define PAGE ((unsigned long)&page)
#define BAD  SBI_ERR_INVALID_PARAM
#define ADDR SBI_ERR_INVALID_ADDRESS
#define NONE SBI_ERR_NOT_SUPPORTED
#define SNAP SBI_PMU_START_FLAG_INIT_SNAPSHOT
#define TAKE SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT
#define INIT SBI_PMU_START_SET_INIT_VALUE
#define RST  SBI_PMU_STOP_FLAG_RESET
#define TO_C CONFIG("instructions to C, for the snapshot", 0, M_C, 0, EVENT_INSTRUCTIONS, 0, 0, W_C)

static const struct pmu_case not_offered[] = {
    SET_PAGE("all ones -> NOT_SUPPORTED", ~0UL, ~0UL, 0, NONE),
    SET_PAGE("a page -> NOT_SUPPORTED", PAGE, 0, 0, NONE),
    SET_PAGE("a misaligned address -> NOT_SUPPORTED", PAGE + 8, 0, 0, NONE),
    SET_PAGE("flags -> NOT_SUPPORTED", PAGE, 0, 1, NONE),
};

static const struct pmu_case errors[] = {
    TO_C,
    START("no page was set -> NO_SHMEM", 0, M_C, SNAP, 0, SBI_ERR_NO_SHMEM),
    STOP("no page was set -> NO_SHMEM", 0, M_C, TAKE, SBI_ERR_NO_SHMEM),
    RESET_ALL,
    SET_PAGE("flags bit 0 -> INVALID_PARAM", PAGE, 0, 1, BAD),
    SET_PAGE("flags bit 63 -> INVALID_PARAM", PAGE, 0, 1UL << 63, BAD),
    SET_PAGE("all ones with flags -> INVALID_PARAM", ~0UL, ~0UL, 1, BAD),
    SET_PAGE("misaligned by 1 -> INVALID_PARAM", PAGE + 1, 0, 0, BAD),
    SET_PAGE("misaligned by 8 -> INVALID_PARAM", PAGE + 8, 0, 0, BAD),
    SET_PAGE("misaligned by 2048 -> INVALID_PARAM", PAGE + 2048, 0, 0, BAD),
    SET_PAGE("all ones below, zero above -> INVALID_PARAM", ~0UL, 0, 0, BAD),
    SET_PAGE("upper half 1 -> INVALID_ADDRESS", PAGE, 1, 0, ADDR),
    SET_PAGE("upper half all ones -> INVALID_ADDRESS", PAGE, ~0UL, 0, ADDR),
    SET_PAGE("address 0 -> INVALID_ADDRESS", 0, 0, 0, ADDR),
    SET_PAGE("no RAM -> INVALID_ADDRESS", NOWHERE, 0, 0, ADDR),
    SET_PAGE("the last page of all -> INVALID_ADDRESS", ~0xfffUL, 0, 0, ADDR),
    SET_PAGE("a page", PAGE, 0, 0, 0),
    SET_PAGE("the same again", PAGE, 0, 0, 0),
    SET_PAGE("a failing call -> INVALID_PARAM", PAGE + 8, 0, 0, BAD),
    TO_C,
    STOP("the page is still set -> ALREADY_STOPPED", 0, M_C, TAKE, SBI_ERR_ALREADY_STOPPED),
    STOP("snapshot and a reserved flag -> INVALID_PARAM", 0, M_C, TAKE | 4, BAD),
    START("snapshot and an initial value -> INVALID_PARAM", 0, M_C, SNAP | INIT, 0, BAD),
    RESET_ALL,
    SET_PAGE("all ones", ~0UL, ~0UL, 0, 0),
    SET_PAGE("all ones twice", ~0UL, ~0UL, 0, 0),
    TO_C,
    STOP("the page is not set any more -> NO_SHMEM", 0, M_C, TAKE, SBI_ERR_NO_SHMEM),
};

static long set_page(void)
{
	return sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, PAGE, 0, 0, 0, 0).error;
}

static long start(uint64_t base, uint64_t mask)
{
	return sbi_pmu(SBI_PMU_COUNTER_START, base, mask, SNAP, 0, 0).error;
}

static long take(uint64_t base, uint64_t mask, uint64_t flags)
{
	return sbi_pmu(SBI_PMU_COUNTER_STOP, base, mask, TAKE | flags, 0, 0).error;
}

static void paint(void)
{
	page.bitmap = PATTERN;
	for (uint32_t i = 0; i < SLOTS; i++)
		page.values[i] = PATTERN;
	for (uint32_t i = 0; i < sizeof(page.rest) / 8; i++)
		page.rest[i] = PATTERN;
}

/* Whether the shared memory is unchanged except for the bitmap and these slots. */
static bool untouched_but(uint64_t slots)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (!(slots >> i & 1) && page.values[i] != PATTERN)
			return false;
	for (uint32_t i = 0; i < sizeof(page.rest) / 8; i++)
		if (page.rest[i] != PATTERN)
			return false;
	return true;
}

static void values(void)
{
	uint64_t c = BIT(fw.c), f = BIT(fw.fw0);
	long started, stopped;

	paint();
	set_page();
	report(page.bitmap == PATTERN && untouched_but(0), "11.13",
	       "snapshot_set_shmem: the page is not touched");
	pmu_config(c, SBI_PMU_CFG_FLAG_CLEAR_VALUE, EVENT_INSTRUCTIONS);
	pmu_config(f, SBI_PMU_CFG_FLAG_CLEAR_VALUE, EVENT_FW(5));
	page.values[fw.c] = 1000;
	page.values[fw.fw0] = 77;
	started = start(0, c | f);
	page.values[fw.c] = page.values[fw.fw0] = PATTERN;
	stopped = take(0, c | f, 0);
	report_eq((uint64_t)started, 0, "11.9", "start: from the snapshot");
	report_eq((uint64_t)stopped, 0, "11.10", "stop: with a snapshot");
	report_eq(page.values[fw.c], counter_read(fw.c), "11.10",
	          "stop: the snapshot is what the counter reads");
	report(page.values[fw.c] > 1000 && page.values[fw.c] < 1100, "11.9",
	       "start: the counter went on from its slot");
	report_eq(page.values[fw.fw0], 77, "11.9", "start: the firmware counter, too");
	report_eq(page.bitmap, 0, "11.13", "snapshot: no counter has overflown");
	report(untouched_but(c | f), "11.10", "stop: no other slot is touched");
	paint();
	report_eq((uint64_t)take(0, c, 0), (uint64_t)SBI_ERR_ALREADY_STOPPED, "11.10",
	          "stop: a snapshot of a stopped counter -> ALREADY_STOPPED");
	report_eq(page.values[fw.c], counter_read(fw.c), "11.10",
	          "stop: it has its value all the same");
	reset_all();
}

static void by_base(void)
{
	uint64_t c = fw.c;

	pmu_config(BIT(c), 0, EVENT_INSTRUCTIONS);
	paint();
	page.values[1] = 5000;
	start(c - 1, 2);
	page.values[1] = PATTERN;
	take(c - 1, 2, 0);
	report(page.values[1] > 5000 && page.values[1] < 5100 && untouched_but(2), "11.13",
	       "snapshot: slots are relative to the base");
	reset_all();
}

/* "Valid only if the Sscofpmf ISA extension is available. Otherwise, it must be zero." */
static void overflown(void)
{
	uint64_t c = fw.c, yes = fw.lcofi;

	pmu_config(BIT(c), 0, EVENT_INSTRUCTIONS);
	paint();
	page.values[c] = -1UL;
	start(0, BIT(c));
	take(0, BIT(c), 0);
	report_eq(page.bitmap, yes << c, "11.13", "snapshot: the overflown counter's bit");
	take(c - 1, 2, 0);
	report_eq(page.bitmap, yes << 1, "11.13", "snapshot: the bitmap is relative to the base");
	take(0, BIT(c), RST);
	report_eq(page.bitmap, yes << c, "11.10", "stop: RESET comes after the snapshot");
	take(0, BIT(c), 0);
	report_eq(page.bitmap, 0, "11.10", "stop: RESET clears the overflow");
	csr_clear(sip, IRQ_LCOFI);
	reset_all();
}

static void never_otherwise(void)
{
	pmu_config(BIT(fw.c), 0, EVENT_INSTRUCTIONS);
	paint();
	pmu_start(BIT(fw.c), -9UL);
	pmu_stop(BIT(fw.c));
	csr_clear(sip, IRQ_LCOFI);
	reset_all();
	report(page.bitmap == PATTERN && untouched_but(0), "11.13",
	       "snapshot: without the flags the page is not touched");
}

void test_snapshot(void)
{
	struct sbiret r = sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, ~0UL, ~0UL, 0, 0, 0);

	if (r.error == SBI_ERR_NOT_SUPPORTED) {
		RUN_TABLE(not_offered);
		report_skip("11.13", "snapshot", "this optional function is not offered");
		return;
	}
	RUN_TABLE(errors);
	values();
	by_base();
	overflown();
	never_otherwise();
	sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, ~0UL, ~0UL, 0, 0, 0);
}
