/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of guests/selftest, the same as on OpenSBI, under KVM and on Tally, on the decoders of
 * core/ and on vpmu/, on harts with all combinations of QEMU's defects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/selftest/selftest.h"
#include "tests/host/selftest.h"
#include "tests/host/selftest_hart.h"

#define DEFECTS 6U

static const char *const defects[DEFECTS] = {
    "one counter per event",    "sticky map",
    "stale interrupt",          "OF at boot and config",
    "a pending LCOFI keeps OF", "no armed cache events",
};

/* With the first two defects each event must have a home counter, so there is one filter at a
 * time. */
static bool wants_homes(uint32_t set)
{
	return set & 3;
}

/* A hart with these defects. */
static struct fake_hart_config hart_with(uint32_t set)
{
	struct fake_hart_config hart = wants_homes(set) ? fake_hart_homes() : fake_hart_free();

	hart.one_counter_per_event = set & 1;
	hart.sticky_map = set & 2;
	hart.stale_irq = set & 4;
	hart.boot_of = set & 8;
	hart.pending_keeps_of = set & 16;
	hart.no_armed_cache_events = set & 32;
	return hart;
}

static void run(const struct hart_config *config, const char *name, bool aloud)
{
	fw = (struct firmware){0};
	hart_reset(config);
	guest_boot(name);
	report_begin(aloud);
	print_init();
	(void)guest_main(0);
}

/* Every case on every hart, with direct and trapped reads, with cheap moves and without, with world
 * switches and without. */
static void test_all_harts(void **state)
{
	unsigned harts = 0, failed = 0;
	char where[256];

	(void)state;
	for (uint32_t i = 0; i < 8U << DEFECTS; i++) {
		uint32_t set = i >> 3;
		struct hart_config config = {
		    .hart = hart_with(set),
		    .trap_reads = i & 1,
		    .cheap_moves = i & 2,
		    .switches = i & 4,
		    .snapshot = true,
		};

		run(&config, NULL, false);
		snprintf(where, sizeof(where), "defects 0x%x, reads %s, moves %s, switches %s", set,
		         i & 1 ? "trapped" : "direct", i & 2 ? "cheap" : "dear",
		         i & 4 ? "in each exit" : "none");
		report_failures(where);
		failed += cases.failed;
		assert_int_equal(cases.run + cases.skipped, 377);
		assert_int_equal(cases.skipped, wants_homes(set) ? 3 : 4);
		harts++;
	}
	printf(
	    "self test: on each of %u machines 373 cases, or 374 where events have home counters: "
	    "%u failed\n",
	    harts, failed);
	assert_int_equal(failed, 0);
}

/* On a hart like QEMU's, with output. */
static void test_qemu(void **state)
{
	struct hart_config config = {.hart = hart_with((1U << DEFECTS) - 1), .snapshot = true};

	(void)state;
	for (uint32_t i = 0; i < DEFECTS; i++)
		printf("defect 0x%x: %s\n", 1U << i, defects[i]);
	run(&config, NULL, true);
	printf("self test: %u cases run, %u failed, %u skipped\n", cases.run, cases.failed,
	       cases.skipped);
	assert_int_equal(cases.failed, 0);
}

static void test_without_snapshot(void **state)
{
	struct hart_config config = {.hart = hart_with((1U << DEFECTS) - 1)};

	(void)state;
	run(&config, NULL, false);
	report_failures("no snapshot");
	assert_int_equal(cases.failed, 0);
	assert_int_equal(cases.skipped, 4);
	assert_int_equal(cases.run, 336);
}

/*
 * Conforming harts differ: one where ECALL does not retire, one that only has cycles and
 * instructions, one without overflow interrupts, one with narrow counters, and one with all of
 * these. Exactly the cases that need what is missing are left out.
 */
static void test_other_harts(void **state)
{
	static const struct {
		const char *name;
		bool no_ecalls, no_events, no_overflow;
		uint32_t width;
		unsigned skipped;
	} harts[] = {
	    {"ECALL does not retire", true, false, false, 64, 3},
	    {"no other event", false, true, false, 64, 10},
	    {"no overflow", false, false, true, 64, 5},
	    {"48 bits", false, false, false, 48, 3},
	    {"all of these", true, true, true, 48, 12},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(harts) / sizeof(harts[0]); i++) {
		struct hart_config config = {
		    .hart = hart_with((1U << DEFECTS) - 1),
		    .snapshot = true,
		    .no_ecalls = harts[i].no_ecalls,
		    .no_overflow = harts[i].no_overflow,
		};

		config.hart.width = harts[i].width;
		for (uint32_t e = FAKE_DTLB_LOAD; harts[i].no_events && e < FAKE_EVENTS; e++)
			config.hart.hctrs[e] = 0;
		run(&config, NULL, false);
		report_failures(harts[i].name);
		printf("%s: %u cases run, %u skipped\n", harts[i].name, cases.run, cases.skipped);
		assert_int_equal(cases.failed, 0);
		assert_int_equal(cases.skipped, harts[i].skipped);
	}
}

static void test_corrupting(void **state)
{
	static const struct {
		const char *name;
		unsigned n;
	} boots[] = {{"fw-base", 5}, {"fw-base-start", 5}, {"wrap", 9}, {"info", 9}, {"shmem", 7}};
	struct hart_config config = {.hart = hart_with((1U << DEFECTS) - 1), .snapshot = true};

	(void)state;
	for (size_t i = 0; i < sizeof(boots) / sizeof(boots[0]); i++) {
		run(&config, boots[i].name, false);
		report_failures(boots[i].name);
		assert_int_equal(cases.failed, 0);
		assert_int_equal(cases.run, boots[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_qemu),
	    cmocka_unit_test(test_all_harts),
	    cmocka_unit_test(test_without_snapshot),
	    cmocka_unit_test(test_other_harts),
	    cmocka_unit_test(test_corrupting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
