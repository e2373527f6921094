/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally calls things when it speaks to people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/lib/event_names.h"
#include "core/lib/words.h"
#include "vpmu/sbi_pmu.h"

static void sets(void **state)
{
	char text[SET_TEXT_BYTES];

	(void)state;
	assert_string_equal(set_text(0, text), "none");
	assert_string_equal(set_text(1, text), "0");
	assert_string_equal(set_text(0x7fffd, text), "0, 2 to 18");
	assert_string_equal(set_text(0x30, text), "4, 5");
	assert_string_equal(set_text(UINT64_MAX, text), "0 to 63");
	assert_string_equal(set_text(1ULL << 63, text), "63");
	/* The longest. */
	assert_int_equal(strlen(set_text(0x5555555555555555, text)), 121);
	assert_string_equal(counters_text(0, text), "no counters");
	assert_string_equal(counters_text(8, text), "1 counter (3)");
	assert_string_equal(counters_text(0x7fff8, text), "16 counters (3 to 18)");
	assert_string_equal(counters_text(0x7fffd, text), "18 counters (0, 2 to 18)");
}

static void firmwares(void **state)
{
	char text[FIRMWARE_TEXT_BYTES];

	(void)state;
	assert_string_equal(firmware_text(1, 0x10005, text), "OpenSBI 1.5");
	assert_string_equal(firmware_text(1, 0x1000a, text), "OpenSBI 1.10");
	assert_string_equal(firmware_text(3, 0x60c6b, text), "KVM 6.12.107");
	assert_string_equal(firmware_text(4, 0x402, text), "RustSBI 0.4.2");
	assert_string_equal(firmware_text(0, 1, text), "BBL version 0x1");
	assert_string_equal(firmware_text(12, 0x20, text), "firmware 12 version 0x20");
	assert_string_equal(firmware_text(UINT64_MAX, UINT64_MAX, text),
	                    "firmware 18446744073709551615 version 0xffffffffffffffff");
}

static void events(void **state)
{
	static const struct {
		const char *name;
		uint32_t event_idx;
	} known[] = {
	    {"cycles", 1},
	    {"instructions", 2},
	    {"ref-cycles", 10},
	    {"L1-dcache-loads", 0x10000},
	    {"LLC-store-misses", 0x10013},
	    {"dTLB-load-misses", 0x10019},
	    {"node-prefetch-misses", 0x10035},
	    {"fw-misaligned-load", 0xf0000},
	    {"fw-sfence-vma-asid-received", 0xf000d},
	    {"exits", 0xf0100},
	    {"lcofi-held", 0xf010e},
	    {"throttled-ticks", 0xf010f},
	};
	char name[EVENT_NAME_BYTES];
	uint32_t event_idx;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(event_of_name(known[i].name, strlen(known[i].name), &event_idx));
		assert_int_equal(event_idx, known[i].event_idx);
		event_name(known[i].event_idx, name);
		assert_string_equal(name, known[i].name);
	}
	assert_true(event_of_name("cpu-cycles:u", 10, &event_idx));
	assert_int_equal(event_idx, 1);
	assert_true(event_of_name("branch-instructions", 19, &event_idx));
	assert_int_equal(event_idx, 5);
	assert_false(event_of_name("cycle", 5, &event_idx));
	assert_false(event_of_name("cyclesx", 7, &event_idx));
	assert_false(event_of_name("", 0, &event_idx));
	assert_false(event_of_name("dTLB-", 5, &event_idx));
	assert_false(event_of_name("dTLB", 4, &event_idx));
	event_name(0, name);
	assert_string_equal(name, "0x0");
	event_name(0x1000e, name);
	assert_string_equal(name, "0x1000e");
	event_name(0x10038, name);
	assert_string_equal(name, "0x10038");
	event_name(0x20000, name);
	assert_string_equal(name, "0x20000");
	event_name(0xf000e, name);
	assert_string_equal(name, "0xf000e");
	event_name(0xf0110, name);
	assert_string_equal(name, "0xf0110");
}

static void calls(void **state)
{
	(void)state;
	assert_string_equal(sbi_extension_name(SBI_EXT_PMU), "PMU");
	assert_string_equal(sbi_function_name(SBI_EXT_PMU, SBI_PMU_EVENT_GET_INFO),
	                    "event_get_info");
	assert_string_equal(sbi_function_name(SBI_EXT_PMU, 9), "");
	assert_string_equal(sbi_function_name(SBI_EXT_PMU, UINT64_MAX), "");
	assert_string_equal(sbi_extension_name(0x54494D45), "TIME");
	assert_string_equal(sbi_function_name(0x54494D45, 0), "set_timer");
	assert_null(sbi_extension_name(0));
	assert_string_equal(sbi_function_name(0, 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets),
	    cmocka_unit_test(firmwares),
	    cmocka_unit_test(events),
	    cmocka_unit_test(calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
