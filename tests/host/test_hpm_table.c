/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event table of a VM tree beside what a hart answers: Kunminghu's, on a hart like it whose
 * OpenSBI has the same table, or one that differs in one thing. And raw events by the table, on
 * both back ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/counters/hpm_table.h"
#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/port.h"
#include "tests/host/chance.h"
#include "tests/host/delegated_csrs.h"
#include "tests/host/opensbi_pmu.h"

#define RAW_V1            ((uint32_t)SBI_PMU_TYPE_RAW << 16)
#define RAW_V2            ((uint32_t)SBI_PMU_TYPE_RAW_V2 << 16)
#define BRANCHES          5U
#define GROUP_MASK        UINT64_C(0xc0300c0300)
#define GROUP_BITS(group) ((group)*UINT64_C(0x4010040100))
#define FRONTEND          0x7f8U
#define BACKEND           0x7f800U
#define RANDOM            10000U

struct quirks quirks;

static struct hpm hpm;
static struct selectors table;
static struct opensbi_event events[2];
static struct opensbi_raw raws[COMBINING_GROUPS];
static struct opensbi_node node;

/* --- what is not there ---------------------------------------------------------------- */

void hpm_failed(void)
{
}

/* --- the hart ------------------------------------------------------------------------- */

static const struct selectors kunminghu = {
    .core = "kunminghu",
    .numbers = true,
    .n_fields = 4,
    .n_joins = 3,
    .n_operators = 4,
    .n_runs = 4,
    .n_standard = 3,
    .fields = {{0, 10}, {10, 10}, {20, 10}, {30, 10}},
    .joins = {{40, 5}, {45, 5}, {50, 5}},
    .operators = {0, 1, 2, 4},
    .runs = {{GROUP_BITS(0), 0x1, 0x36, FRONTEND},
             {GROUP_BITS(1), 0x101, 0x18e, BACKEND},
             {GROUP_BITS(2), 0x201, 0x27d, 0x7f80000},
             {GROUP_BITS(3), 0x301, 0x319, 0xf8000000}},
    .standard = {{1, HCTRS_CYCLE, 0}, {2, HCTRS_INSTRET, 0}, {BRANCHES, FRONTEND, 0x20}},
};

bool host_gives_silent;

static int boot(void **state)
{
	(void)state;
	host_gives_silent = false;
	table = kunminghu;
	events[0] = (struct opensbi_event){BRANCHES, FRONTEND, 0x20};
	raws[0] = (struct opensbi_raw){GROUP_BITS(0), GROUP_MASK, FRONTEND};
	raws[1] = (struct opensbi_raw){GROUP_BITS(1), GROUP_MASK, BACKEND};
	raws[2] = (struct opensbi_raw){GROUP_BITS(2), GROUP_MASK, 0x7f80000};
	raws[3] = (struct opensbi_raw){GROUP_BITS(3), GROUP_MASK, 0xf8000000};
	node = (struct opensbi_node){events, 1, raws, COMBINING_GROUPS};
	delegated_csrs_lose(0, 0);
	opensbi_boot(&node, true);
	quirks = (struct quirks){.home_counters = false};
	hpm = (struct hpm){
	    .hctrs = COMBINING_COUNTERS,
	    .width = 64,
	    .table = &table,
	    .n_events = 1,
	    .events = {{.event_idx = BRANCHES, .hctrs = FRONTEND, .selector = 0x20}},
	};
	return 0;
}

static void contradicts(struct hpm_contradiction expected)
{
	hpm_table_check(&hpm);
	assert_int_equal(hpm.contradiction.kind, expected.kind);
	assert_int_equal(hpm.contradiction.hctr, expected.hctr);
	assert_int_equal(hpm.contradiction.event_idx, expected.event_idx);
	assert_int_equal(hpm.contradiction.selector, expected.selector);
	assert_int_equal(hpm.contradiction.kept, expected.kept);
	/* Whoever looks first finds no counter that is not free. */
	for (uint32_t hctr = COMBINING_FIRST; hctr <= COMBINING_LAST; hctr++)
		assert_int_equal(combining_event(hctr) & ~MHPMEVENT_OF & ~GROUP_MASK, 0);
}

#define CONTRADICTS(...) contradicts((struct hpm_contradiction){__VA_ARGS__})

/* --- tests ---------------------------------------------------------------------------- */

static void a_hart_as_the_table_says(void **state)
{
	(void)state;
	CONTRADICTS(HPM_AGREES);
	assert_true(hpm.table_raw);
	hpm.ssccfg = true;
	CONTRADICTS(HPM_AGREES);
	opensbi_boot(&node, false);
	CONTRADICTS(HPM_AGREES);
}

/* What the table takes away is none of the firmware's business. */
static void a_firmware_that_takes_more(void **state)
{
	(void)state;
	table.n_runs = 2;
	table.runs[1].hctrs = 0x7800;
	table.n_standard = 2;
	CONTRADICTS(HPM_AGREES);
	assert_true(hpm.table_raw);
}

static void a_counter_that_is_not_there(void **state)
{
	(void)state;
	hpm.hctrs &= ~(BIT(9) | BIT(30));
	hpm.events[0].hctrs &= ~BIT(9);
	CONTRADICTS(HPM_NO_COUNTER, .hctr = 9);
	boot(state);
	/* Only a general event has it. */
	hpm.hctrs &= ~BIT(31);
	table.runs[3].hctrs &= ~(uint32_t)BIT(31);
	CONTRADICTS(HPM_AGREES);
	table.standard[2].hctrs |= (uint32_t)BIT(31);
	CONTRADICTS(HPM_NO_COUNTER, .hctr = 31);
}

static void an_event_that_is_refused(void **state)
{
	(void)state;
	hpm.events[0].hctrs &= ~(BIT(7) | BIT(10));
	CONTRADICTS(HPM_REFUSES, .hctr = 7, .event_idx = BRANCHES, .selector = 0x20);
	boot(state);
	hpm.n_events = 0;
	CONTRADICTS(HPM_REFUSES, .hctr = 3, .event_idx = BRANCHES, .selector = 0x20);
	/* Boot has no room for more, and so did not ask. */
	boot(state);
	hpm.n_events = HPM_MAX_EVENTS;
	hpm.events[0].event_idx = 3;
	CONTRADICTS(HPM_AGREES);
}

/* Another event on each counter of a row. */
static void a_raw_event_that_is_refused(void **state)
{
	(void)state;
	raws[1].counters &= ~(uint32_t)(BIT(13) | BIT(17));
	CONTRADICTS(HPM_REFUSES, .hctr = 13, .selector = GROUP_BITS(1) | 3);
	boot(state);
	node.n_raws = 3;
	CONTRADICTS(HPM_REFUSES, .hctr = 27, .selector = GROUP_BITS(3) | 1);
}

/* A machine that maps no raw events has none for guests. All else is as the table says. */
static void a_firmware_without_raw_events(void **state)
{
	(void)state;
	node.n_raws = 0;
	CONTRADICTS(HPM_AGREES);
	assert_false(hpm.table_raw);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V1, GROUP_BITS(1) | 5, 0), 0);
	hpm.delegated = true;
	hpm.minh_hctrs = ~0UL;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V1, GROUP_BITS(1) | 5, 0), 0);
}

/* HS sees the selector only where counters are delegated. */
static void another_selector(void **state)
{
	(void)state;
	hpm.events[0].selector = 0x21;
	CONTRADICTS(HPM_AGREES);
	hpm.ssccfg = true;
	CONTRADICTS(HPM_KEEPS, .hctr = 3, .event_idx = BRANCHES, .selector = 0x20, .kept = 0x21);
	boot(state);
	hpm.ssccfg = true;
	delegated_csrs_lose(12, 2);
	CONTRADICTS(HPM_KEEPS, .hctr = 12, .selector = GROUP_BITS(1) | 2, .kept = GROUP_BITS(1));
}

/* The firmware is asked for one counter of the table, and is believed if it refuses. */
static void raw_events_by_the_firmware(void **state)
{
	uint64_t data = GROUP_BITS(1) | 5;

	(void)state;
	hpm_table_check(&hpm);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V1, data, 0), BACKEND);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, data, BACKEND), BACKEND);
	table.runs[1].hctrs = 0x1800;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, data, 0), 0x1800);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, data, 0x800), 0x1800);
	raws[1].mask |= 0xff;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, data, 0), 0);
	opensbi_boot(&node, false);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, UINT64_C(4) << 50 | 1, 0), 0);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, UINT64_C(4) << 45 | 1, 0), FRONTEND);
	quirks.home_counters = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 1, 0), 0);
}

/* HS writes the selector itself: all 56 bits, whatever the firmware knows, and never into a counter
 * that counts M. */
static void raw_events_by_hs(void **state)
{
	static const uint64_t filters[] = {0, MHPMEVENT_VSINH, MHPMEVENT_VUINH,
	                                   MHPMEVENT_VSINH | MHPMEVENT_VUINH};
	static const uint32_t operators[] = {0, 1, 2, 4};
	struct chance c = {.state = 1};

	(void)state;
	opensbi_boot(&node, false);
	hpm.ssccfg = true;
	hpm_table_check(&hpm);
	hpm.delegated = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 1, 0), 0);
	hpm.minh_hctrs = hpm_table_configure(&hpm, COMBINING_COUNTERS & ~BIT(4));
	assert_int_equal(hpm.minh_hctrs, COMBINING_COUNTERS & ~BIT(4));
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 1, 0), FRONTEND & ~BIT(4));
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 0x37, 0), 0);
	for (uint32_t i = 0; i < RANDOM; i++) {
		uint32_t group = below(&c, 4);
		struct hw_event config = {i % 2 ? RAW_V1 : RAW_V2, below(&c, 4), GROUP_BITS(group)};
		uint32_t hctr = any_of(&c, raws[group].counters & hpm.minh_hctrs);

		for (uint32_t k = 0; k < 4; k++)
			config.event_data |= (uint64_t)(1 + below(&c, 20)) << (10 * k);
		for (uint32_t k = 0; k < 3; k++)
			config.event_data |= (uint64_t)operators[below(&c, 4)] << (40 + 5 * k);
		assert_int_equal(hpm_event_hctrs(&hpm, config.event_idx, config.event_data, 0),
		                 raws[group].counters & hpm.minh_hctrs);
		assert_true(hpm_reprogram(&hpm, hctr, &config));
		assert_int_equal(combining_event(hctr),
		                 config.event_data | MHPMEVENT_OF | MHPMEVENT_MINH |
		                     MHPMEVENT_SINH | MHPMEVENT_UINH | filters[config.inhibit]);
	}
}

/* For tests they are given. What the hart takes for an event of its own is not, nor a home counter
 * that would go on with such an event. */
static void raw_events_that_never_count(void **state)
{
	static const uint64_t own[] = {1, 2, 1 | 5 << 20,
	                               UINT64_C(2) | UINT64_C(4) << 45 | 7 << 20};

	(void)state;
	hpm_table_check(&hpm);
	quirks.home_counters = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 3, 0), 0);
	host_gives_silent = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 3, 0), FRONTEND);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 1 | 5 << 10, 0), FRONTEND);
	for (uint32_t i = 0; i < ARRAY_SIZE(own); i++)
		assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, own[i], 0), 0);
	hpm.delegated = true;
	hpm.minh_hctrs = ~0UL;
	hpm.events[0].hctrs = BIT(3);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 3, 0), FRONTEND);
	hpm.events[0].selector = 2;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, 3, 0), FRONTEND & ~BIT(3));
}

/* Where no table says what a selector means, nobody writes one. */
static void delegated_without_a_table(void **state)
{
	(void)state;
	hpm.table = NULL;
	hpm.delegated = true;
	hpm.minh_hctrs = ~0UL;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, GROUP_BITS(1) | 5, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_hart_as_the_table_says, boot),
	    cmocka_unit_test_setup(a_firmware_that_takes_more, boot),
	    cmocka_unit_test_setup(a_counter_that_is_not_there, boot),
	    cmocka_unit_test_setup(an_event_that_is_refused, boot),
	    cmocka_unit_test_setup(a_raw_event_that_is_refused, boot),
	    cmocka_unit_test_setup(a_firmware_without_raw_events, boot),
	    cmocka_unit_test_setup(another_selector, boot),
	    cmocka_unit_test_setup(raw_events_by_the_firmware, boot),
	    cmocka_unit_test_setup(raw_events_by_hs, boot),
	    cmocka_unit_test_setup(raw_events_that_never_count, boot),
	    cmocka_unit_test_setup(delegated_without_a_table, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
