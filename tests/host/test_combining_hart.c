/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combined events on a hart of 29 counters, driven by arch/riscv/counters/hpm*.c through OpenSBI's
 * calls. Each count must equal a cycle-by-cycle evaluation of the expression that does not use the
 * selector.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/port.h"
#include "tests/host/chance.h"
#include "tests/host/opensbi_pmu.h"

#define RANDOM_COMBINATIONS 10000U
#define CYCLES              40U
#define CODES               150U
#define RAW_V1              ((uint32_t)SBI_PMU_TYPE_RAW << 16)
#define RAW_V2              ((uint32_t)SBI_PMU_TYPE_RAW_V2 << 16)
#define GROUP_MASK          UINT64_C(0xc0300c0300)
#define GROUP_BITS(group)   ((group)*UINT64_C(0x4010040100))
#define RAW_V1_LIMIT        (UINT64_C(1) << 48)

struct quirks quirks;

/* --- what is not there ---------------------------------------------------------------- */

void hpm_failed(void)
{
}

/* --- the hart ------------------------------------------------------------------------- */

static const struct opensbi_event events[] = {
    {SBI_PMU_HW_INSTRUCTIONS, 0x7f800, GROUP_BITS(1) | 20},
};
static const struct opensbi_raw raws[] = {
    {GROUP_BITS(0), GROUP_MASK, 0x7f8},
    {GROUP_BITS(1), GROUP_MASK, 0x7f800},
    {GROUP_BITS(2), GROUP_MASK, 0x7f80000},
    {GROUP_BITS(3), GROUP_MASK, 0xf8000000},
};
static const struct opensbi_node node = {events, 1, raws, COMBINING_GROUPS};
static struct hpm hpm;

static int boot(void **state)
{
	(void)state;
	opensbi_boot(&node, true);
	quirks = (struct quirks){.home_counters = false};
	hpm = (struct hpm){.hctrs = COMBINING_COUNTERS, .width = 64, .lcofi = true};
	return 0;
}

static void anything_happens(struct chance *c, struct combining_cycle *cycle)
{
	for (unsigned int g = 0; g < COMBINING_GROUPS; g++) {
		for (unsigned int i = 1; i < COMBINING_CODES; i++)
			cycle->times[g][i] = (uint8_t)below(c, 8);
	}
}

/* --- expressions ---------------------------------------------------------------------- */

struct expression {
	unsigned int group;
	unsigned int code[4]; /* 0: none */
	enum combining_op op[3];
};

static struct expression any_expression(struct chance *c)
{
	static const enum combining_op ops[] = {COMBINING_OR, COMBINING_AND, COMBINING_XOR,
	                                        COMBINING_ADD};
	struct expression e = {.group = below(c, COMBINING_GROUPS)};

	for (unsigned int i = 0; i < 4; i++)
		e.code[i] = below(c, CODES);
	for (unsigned int i = 0; i < 3; i++)
		e.op[i] = ops[below(c, 4)];
	return e;
}

static uint64_t encoded(const struct expression *e)
{
	uint64_t selector = GROUP_BITS(e->group);

	for (unsigned int i = 0; i < 4; i++)
		selector |= (uint64_t)e->code[i] << COMBINING_EVENT_SHIFT(i);
	for (unsigned int i = 0; i < 3; i++)
		selector |= (uint64_t)e->op[i] << COMBINING_OP_SHIFT(i);
	return selector;
}

/* Combines bit by bit; ADD has a carry. */
static unsigned int joined(enum combining_op op, unsigned int a, unsigned int b)
{
	unsigned int sum = 0, carry = 0;

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int x = a >> i & 1, y = b >> i & 1, bit = x | y;

		if (op == COMBINING_AND)
			bit = x && y;
		else if (op == COMBINING_XOR)
			bit = x != y;
		else if (op == COMBINING_ADD)
			bit = (x + y + carry) & 1;
		carry = (x + y + carry) / 2;
		sum |= bit << i;
	}
	return sum;
}

static unsigned int value_of(const struct expression *e, const struct combining_cycle *cycle)
{
	const uint8_t *times = cycle->times[e->group];

	return joined(e->op[2], joined(e->op[0], times[e->code[0]], times[e->code[1]]),
	              joined(e->op[1], times[e->code[2]], times[e->code[3]]));
}

static bool is_counted(uint32_t inhibit, enum combining_mode mode)
{
	return (mode == COMBINING_VS && !(inhibit & HW_INH_VS)) ||
	       (mode == COMBINING_VU && !(inhibit & HW_INH_VU));
}

/* --- tests ---------------------------------------------------------------------------- */

static void operators(void **state)
{
	static const struct {
		enum combining_op op;
		uint64_t counted;
	} table[] = {{COMBINING_OR, 7}, {COMBINING_AND, 2}, {COMBINING_XOR, 5}, {COMBINING_ADD, 9}};
	static struct combining_cycle cycle;

	(void)state;
	cycle.times[1][7] = 3;
	cycle.times[1][9] = 6;
	for (unsigned int i = 0; i < 4; i++) {
		/* The same through each operator: the other pair has no events, combined by OR. */
		struct expression low = {1, {7, 9, 0, 0}, {table[i].op, 0, 0}};
		struct expression high = {1, {0, 0, 7, 9}, {0, table[i].op, 0}};
		struct expression last = {1, {7, 0, 9, 0}, {0, 0, table[i].op}};

		combining_write_event(11, encoded(&low));
		combining_write_event(12, encoded(&high));
		combining_write_event(13, encoded(&last));
		for (unsigned int n = 11; n < 14; n++)
			combining_write_counter(n, 0);
		combining_write_inhibit(~UINT64_C(0x3800));
		assert_false(combining_step(COMBINING_VS, &cycle));
		for (unsigned int n = 11; n < 14; n++)
			assert_int_equal(combining_counter(n), table[i].counted);
	}
}

/* A selector of another group counts the event with that code of this group. */
static void what_cannot_be_written(void **state)
{
	(void)state;
	for (unsigned int n = COMBINING_FIRST; n <= COMBINING_LAST; n++) {
		uint64_t group = GROUP_BITS((uint64_t)combining_group(n));

		assert_int_equal(combining_event(n), group);
		combining_write_event(n, UINT64_MAX);
		/* 31 is not an operator. */
		assert_int_equal(combining_event(n), (UINT64_C(0x1ff) << 55) |
		                                         (UINT64_C(0xffffffffff) & ~GROUP_MASK) |
		                                         group);
	}
}

static void overflow(void **state)
{
	static struct combining_cycle cycle;
	struct hw_event config = {RAW_V2, HW_INH_VU, GROUP_BITS(3) | 5};

	(void)state;
	cycle.times[3][5] = 7;
	assert_true(hpm_reprogram(&hpm, 27, &config));
	/* Configuring sets OF, which does not mean a wrap. */
	assert_true(hpm_reprogram(&hpm, 28, &config));
	hpm_sbi_start_armed(&hpm, 27, (uint64_t)-14);
	assert_int_equal(host_csrs[CSR_SCOUNTOVF], BIT(28));
	opensbi_step(COMBINING_VS, &cycle);
	assert_int_equal(host_csrs[CSR_SIP], 0);
	opensbi_step(COMBINING_VS, &cycle);
	assert_int_equal(host_csrs[CSR_SIP], BIT(IRQ_LCOFI));
	assert_int_equal(hpm_take_overflow(&hpm), BIT(27));
	assert_int_equal(host_csrs[CSR_SIP], 0);
	/* It counts on, and with OF = 1 raises no interrupt. */
	opensbi_step(COMBINING_VS, &cycle);
	assert_int_equal(hpm_value(&hpm, 27), 7);
	opensbi_step(COMBINING_VU, &cycle);
	assert_int_equal(hpm_value(&hpm, 27), 7);
}

/* Counters of its group only, as many as HS searches at a time. */
static void counters_of_a_group(void **state)
{
	(void)state;
	for (uint64_t g = 0; g < COMBINING_GROUPS; g++) {
		uint64_t able = hpm_event_hctrs(&hpm, RAW_V2, GROUP_BITS(g) | 1, 0);

		assert_int_not_equal(able, 0);
		assert_int_equal(able & ~(uint64_t)raws[g].counters, 0);
	}
	/* Events of two groups: no counter can count them. */
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, UINT64_C(0x100) << 10, 0), 0);
}

/* An event that is counted already keeps its counter if it is asked for again. */
static void a_running_one_stays(void **state)
{
	struct hw_event config = {RAW_V2, 0, GROUP_BITS(2) | 9};
	uint64_t able;

	(void)state;
	assert_true(hpm_reprogram(&hpm, 20, &config));
	hpm_start(&hpm, BIT(20), 0);
	able = hpm_event_hctrs(&hpm, RAW_V2, config.event_data, BIT(20));
	assert_int_not_equal(able & BIT(20), 0);
	assert_int_not_equal(able & ~BIT(20), 0);
	assert_int_equal(combining_event(20) & ~MHPMEVENT_OF,
	                 config.event_data | MHPMEVENT_MINH | MHPMEVENT_SINH | MHPMEVENT_UINH);
}

/* Version 1 has 48 bits. Larger values are refused if the firmware knows no other version. */
static void what_does_not_fit_v1(void **state)
{
	struct expression e = {0, {1, 2, 3, 4}, {COMBINING_ADD, COMBINING_ADD, COMBINING_OR}};
	struct hw_event config = {RAW_V2, 0, encoded(&e)};

	(void)state;
	opensbi_boot(&node, false);
	assert_true(config.event_data < RAW_V1_LIMIT);
	assert_int_not_equal(hpm_event_hctrs(&hpm, RAW_V2, config.event_data, 0), 0);
	assert_true(hpm_reprogram(&hpm, 3, &config));
	e.op[2] = COMBINING_ADD;
	config.event_data = encoded(&e);
	assert_true(config.event_data >= RAW_V1_LIMIT);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, config.event_data, 0), 0);
	assert_false(hpm_reprogram(&hpm, 4, &config));
}

/* The node has the counters of the SBI's own events. For cycles it has only the fixed counter, so
 * the firmware returns a counter that was not in the set. */
static void the_fixed_counter_is_no_answer(void **state)
{
	struct hw_event cycles = {SBI_PMU_HW_CPU_CYCLES, 0, 0};
	struct hw_event instructions = {SBI_PMU_HW_INSTRUCTIONS, 0, 0};

	(void)state;
	for (uint32_t n = COMBINING_FIRST; n <= COMBINING_LAST; n++) {
		assert_false(hpm_reprogram(&hpm, n, &cycles));
		assert_int_equal(hpm_reprogram(&hpm, n, &instructions),
		                 events[0].counters >> n & 1);
	}
}

/* A reset by the firmware clears MINH, which delegated writes cannot set. A hart that counts an
 * event on one counter only may accept selectors that it does not count. */
static void raw_events_that_are_refused(void **state)
{
	uint64_t event = GROUP_BITS(1) | 20;

	(void)state;
	assert_int_not_equal(hpm_event_hctrs(&hpm, RAW_V2, event, 0), 0);
	hpm.delegated = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V1, event, 0), 0);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, event, 0), 0);
	hpm.delegated = false;
	quirks.home_counters = true;
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V1, event, 0), 0);
	assert_int_equal(hpm_event_hctrs(&hpm, RAW_V2, event, 0), 0);
}

/* One expression on a counter of its group: the hart must hold its selector and the filter. */
static void count(struct chance *c)
{
	static struct combining_cycle cycle;
	struct expression e = any_expression(c);
	struct hw_event config = {RAW_V2, below(c, 4), encoded(&e)};
	uint32_t hctr = any_of(c, raws[e.group].counters);
	uint64_t expected = chance(c) >> 1,
	         filters = MHPMEVENT_MINH | MHPMEVENT_SINH | MHPMEVENT_UINH;

	filters |= config.inhibit & HW_INH_VS ? MHPMEVENT_VSINH : 0;
	filters |= config.inhibit & HW_INH_VU ? MHPMEVENT_VUINH : 0;
	assert_true(hpm_reprogram(&hpm, hctr, &config));
	hpm_start(&hpm, BIT(hctr), expected);
	for (unsigned int i = 0; i < CYCLES; i++) {
		enum combining_mode mode = (enum combining_mode)below(c, COMBINING_VU + 1);

		anything_happens(c, &cycle);
		opensbi_step(mode, &cycle);
		expected += is_counted(config.inhibit, mode) ? value_of(&e, &cycle) : 0;
	}
	assert_int_equal(combining_event(hctr) & ~MHPMEVENT_OF, config.event_data | filters);
	assert_int_equal(hpm_value(&hpm, hctr), expected);
	hpm_stop(&hpm, BIT(hctr));
	opensbi_step(COMBINING_VS, &cycle);
	assert_int_equal(hpm_value(&hpm, hctr), expected);
}

static void random_combinations(void **state)
{
	struct chance c = {1};

	(void)state;
	for (unsigned int i = 0; i < RANDOM_COMBINATIONS; i++)
		count(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(operators, boot),
	    cmocka_unit_test_setup(what_cannot_be_written, boot),
	    cmocka_unit_test_setup(overflow, boot),
	    cmocka_unit_test_setup(counters_of_a_group, boot),
	    cmocka_unit_test_setup(a_running_one_stays, boot),
	    cmocka_unit_test_setup(what_does_not_fit_v1, boot),
	    cmocka_unit_test_setup(the_fixed_counter_is_no_answer, boot),
	    cmocka_unit_test_setup(raw_events_that_are_refused, boot),
	    cmocka_unit_test_setup(random_combinations, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
