/* SPDX-License-Identifier: Apache-2.0 */
/* Event info: SBI 3.0 section 11.14. */
#include "tests/host/vpmu_stub.h"

#include <string.h>

#define TABLE    (RAM_BASE + 0x20)
#define ENTRY(n) (TABLE + 16UL * (n))
#define BEFORE   0xa5a5a5a5U

static long info(unsigned long lo, unsigned long hi, unsigned long n, unsigned long flags)
{
	uint64_t next = 0;
	struct sbi_ret ret = vpmu_event_get_info(&vpmu, lo, hi, n, flags, &next);

	assert_int_equal(next, 0);
	assert_int_equal(ret.value, 0);
	return ret.error;
}

/* The next entry of a call in slices. 0: it begins. */
static uint64_t next_entry;

static bool info_again(unsigned long lo, unsigned long n)
{
	struct sbi_ret ret = vpmu_event_get_info(&vpmu, lo, 0, n, 0, &next_entry);

	assert_int_equal(ret.error, SBI_SUCCESS);
	return next_entry != 0;
}

static void put(uint64_t gpa, uint32_t event_idx, uint64_t event_data)
{
	poke32(gpa, event_idx);
	poke32(gpa + 4, BEFORE);
	poke64(gpa + 8, event_data);
}

static void put_all(uint32_t n, uint32_t event_idx)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		put(ENTRY(i), event_idx, 0);
	ram_forget();
	next_entry = 0;
}

static uint32_t output(uint32_t n)
{
	return peek32(ENTRY(n) + 4);
}

static uint32_t ask(uint32_t event_idx, uint64_t event_data)
{
	put(TABLE, event_idx, event_data);
	assert_int_equal(info(TABLE, 0, 1, 0), SBI_SUCCESS);
	/* Only the output has changed. */
	assert_int_equal(peek32(TABLE), event_idx);
	assert_int_equal(peek64(TABLE + 8), event_data);
	return output(0);
}

static void test_errors(void **state)
{
	static const struct {
		unsigned long lo, hi, n, flags;
		long error;
	} cases[] = {
	    {TABLE, 0, 1, 1, SBI_ERR_INVALID_PARAM},
	    {TABLE, 0, 1, 1UL << 63, SBI_ERR_INVALID_PARAM},
	    {TABLE, 0, 0, 1, SBI_ERR_INVALID_PARAM},
	    {TABLE + 1, 0, 1, 0, SBI_ERR_INVALID_PARAM},
	    {TABLE + 8, 0, 1, 0, SBI_ERR_INVALID_PARAM},
	    {TABLE + 15, 0, 0, 0, SBI_ERR_INVALID_PARAM},
	    {~0UL, ~0UL, 1, 0, SBI_ERR_INVALID_PARAM},
	    {TABLE, 1, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {TABLE, ~0UL, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {TABLE, 1, 0, 0, SBI_ERR_INVALID_ADDRESS},
	    {0, 0, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE - 16, 0, 2, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE + RAM_SIZE, 0, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE + RAM_SIZE - 16, 0, 2, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, RAM_SIZE / 16 + 1, 0, SBI_ERR_INVALID_ADDRESS},
	    /* 16 times the number, or the end of the range, does not fit into 64 bits. */
	    {RAM_BASE, 0, ~0UL, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, 1UL << 60, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, (1UL << 60) + 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, (1UL << 63) + 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, (0UL - RAM_BASE) / 16 + 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {-16UL, 0, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {-16UL, 0, 2, 0, SBI_ERR_INVALID_ADDRESS},
	    {TABLE, 0, 0, 0, SBI_SUCCESS},
	    {0, 0, 0, 0, SBI_SUCCESS},
	    {-16UL, 0, 0, 0, SBI_SUCCESS},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(info(cases[i].lo, cases[i].hi, cases[i].n, cases[i].flags),
		                 cases[i].error);
	assert_int_equal(ram_bytes_read() + ram_bytes_written(), 0);
}

static void test_answers(void **state)
{
	static const struct {
		uint32_t event_idx;
		uint64_t event_data;
		uint32_t answer;
	} cases[] = {
	    {CYCLES, 0, 1},
	    {INSTRS, 0, 1},
	    {DTLB, 0, 1},
	    {FW(4), 0, 1},
	    {FW(13), 0, 1},
	    {RAW, 5, 1},
	    {RAW, 0xffffffffffff, 1},
	    {RAW2, 5, 1},
	    {RAW2, 0xffffffffffffff, 1},
	    /* Valid, but no counter can count it. */
	    {0x00003, 0, 0},
	    {0x0000a, 0, 0},
	    {0x10001, 0, 0},
	    {RAW, 0, 0},
	    {RAW2, 0, 0},
	    {FW(0), 0, 0},
	    {FW(3), 0, 0},
	    {FW(14), 0, 0},
	    {FW(21), 0, 0},
	    {FW(256), 0, 0},
	    {FW(0xffff), 0, 0},
	    {FW(0xffff), 7, 0},
	    /* Invalid. */
	    {0, 0, 0},
	    {CYCLES, 1, 0},
	    {DTLB, 1UL << 63, 0},
	    {0x1001e, 0, 0},
	    {RAW | 1, 5, 0},
	    {RAW, 1UL << 48, 0},
	    {RAW2 | 1, 5, 0},
	    {RAW2, 1UL << 56, 0},
	    {FW(5), 1, 0},
	    {FW(22), 0, 0},
	    {FW(255), 0, 0},
	    {0x40000, 0, 0},
	    {0xe0001, 0, 0},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ask(cases[i].event_idx, cases[i].event_data), cases[i].answer);
		/* config_matching must agree. */
		assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, ALL & ~2UL, 0,
		                                              cases[i].event_idx,
		                                              cases[i].event_data)
		                     .error,
		                 cases[i].answer ? SBI_SUCCESS : SBI_ERR_NOT_SUPPORTED);
		vpmu_reset(&vpmu);
	}
}

/* What is counted already does not change the answer. */
static void test_answer_of_an_empty_pmu(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config_error(HW, UINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(ask(CYCLES, 0), 1);
	while (config_error(FWS, AUTO, FW(5)) == SBI_SUCCESS)
		;
	stub.takes = stub.prepares = 0;
	assert_int_equal(ask(FW(5), 0), 1);
	assert_int_equal(stub.takes + stub.stops + stub.prepares, 0);
	assert_true(guest_reads_direct(3));
}

static void test_answers_obey_policy(void **state)
{
	static const uint32_t events[] = {INSTRS, RAW2, FW(5), FW(257)};
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.hctrs = 0x1fd & ~8UL; /* cycles have no counter */
	policy.fw_port_events = 1U << 2;
	policy.n_tally_events = 3;
	stub_setup_policy(&policy);
	assert_int_equal(ask(CYCLES, 0), 0);
	assert_int_equal(ask(INSTRS, 0), 1);
	assert_int_equal(ask(RAW, 5), 1);
	assert_int_equal(ask(FW(2), 0), 1);
	assert_int_equal(ask(FW(3), 0), 0);
	assert_int_equal(ask(FW(256), 0), 1);
	assert_int_equal(ask(FW(258), 0), 1);
	assert_int_equal(ask(FW(259), 0), 0);
	policy.events = events;
	policy.n_events = 4;
	stub_setup_policy(&policy);
	assert_int_equal(ask(CYCLES, 0), 0);
	assert_int_equal(ask(INSTRS, 0), 1);
	assert_int_equal(ask(DTLB, 0), 0);
	assert_int_equal(ask(RAW, 5), 0);
	assert_int_equal(ask(RAW2, 5), 1);
	assert_int_equal(ask(FW(5), 0), 1);
	assert_int_equal(ask(FW(6), 0), 0);
	assert_int_equal(ask(FW(2), 0), 0);
	assert_int_equal(ask(FW(256), 0), 0);
	assert_int_equal(ask(FW(257), 0), 1);
}

static void test_reserved_bits(void **state)
{
	uint32_t bit;

	(void)state;
	for (bit = 20; bit < 32; bit++) {
		put_all(4, CYCLES);
		put(ENTRY(2), CYCLES | 1U << bit, 0);
		assert_int_equal(info(TABLE, 0, 4, 0), SBI_ERR_INVALID_PARAM);
		/* Those before it have an output, it and those after it do not. */
		assert_int_equal(output(0), 1);
		assert_int_equal(output(1), 1);
		assert_int_equal(output(2), BEFORE);
		assert_int_equal(output(3), BEFORE);
	}
}

static void test_touches_no_more_than_it_must(void **state)
{
	uint32_t i;

	(void)state;
	put_all(3, CYCLES);
	assert_int_equal(info(TABLE, 0, 3, 0), SBI_SUCCESS);
	assert_int_equal(ram_bytes_written(), 12);
	for (i = 0; i < RAM_SIZE; i++) {
		bool inside = i >= 0x20 && i < 0x20 + 48;

		/* Each byte at most once, because the guest may change it between two reads. */
		assert_true(stub.ram_reads[i] <= (inside ? 1 : 0));
		assert_int_equal(stub.ram_writes[i], inside && i % 16 >= 4 && i % 16 < 8);
	}
}

/* To the last byte of RAM, over pages. */
static void test_whole_ram(void **state)
{
	unsigned int calls = 1;
	uint32_t n = RAM_SIZE / 16;
	uint32_t i;

	(void)state;
	for (i = 0; i < n; i++)
		put(RAM_BASE + 16UL * i, i % 3 == 0 ? CYCLES : 3, 0);
	while (info_again(RAM_BASE, n))
		calls++;
	assert_int_equal(calls, n / 8);
	for (i = 0; i < n; i++)
		assert_int_equal(peek32(RAM_BASE + 16UL * i + 4), i % 3 == 0);
}

static void test_slices(void **state)
{
	static const struct {
		uint32_t n, calls;
	} cases[] = {{1, 1}, {7, 1}, {8, 1}, {9, 2}, {16, 2}, {17, 3}, {100, 13}};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t n = cases[i].n;
		uint32_t call;

		put_all(n + 1, CYCLES);
		for (call = 1; call < cases[i].calls; call++) {
			assert_true(info_again(TABLE, n));
			assert_int_equal(output(8 * call - 1), 1);
			assert_int_equal(output(8 * call), BEFORE);
		}
		assert_false(info_again(TABLE, n));
		assert_int_equal(output(n - 1), 1);
		assert_int_equal(output(n), BEFORE);
		assert_int_equal(ram_bytes_written(), 4 * n);
	}
}

/* A raw event may be expensive, so it is the last of its slice. */
static void test_raw_events_end_a_slice(void **state)
{
	static const struct {
		uint32_t at, event_idx, answered;
	} cases[] = {{0, RAW, 1}, {3, RAW2, 4}, {7, RAW, 8}, {8, RAW, 8}};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_all(20, CYCLES);
		put(ENTRY(cases[i].at), cases[i].event_idx, 5);
		assert_true(info_again(TABLE, 20));
		assert_int_equal(output(cases[i].answered - 1), 1);
		assert_int_equal(output(cases[i].answered), BEFORE);
		vpmu_reset(&vpmu);
	}
	put_all(2, RAW);
	put(ENTRY(0), RAW, RAW_INSTRS);
	assert_true(info_again(TABLE, 2));
	assert_int_equal(output(0), 1);
	assert_false(info_again(TABLE, 2));
	assert_int_equal(output(1), 0);
}

/* What the guest changes in between: later slices are read when they are served. */
static void test_changed_between_slices(void **state)
{
	(void)state;
	put_all(10, CYCLES);
	assert_true(info_again(TABLE, 10));
	put(ENTRY(3), 3, 0);
	put(ENTRY(8), 3, 0);
	put(ENTRY(9), 1U << 20, 0);
	assert_int_equal(vpmu_event_get_info(&vpmu, TABLE, 0, 10, 0, &next_entry).error,
	                 SBI_ERR_INVALID_PARAM);
	assert_int_equal(next_entry, 0);
	assert_int_equal(output(3), BEFORE);
	assert_int_equal(output(7), 1);
	assert_int_equal(output(8), 0);
	assert_int_equal(output(9), BEFORE);
	/* It ended with an error, so the same call begins again. */
	put(ENTRY(9), CYCLES, 0);
	assert_true(info_again(TABLE, 10));
	assert_int_equal(output(3), 0);
	assert_false(info_again(TABLE, 10));
	assert_int_equal(output(9), 1);
}

/*
 * Any call in between, even the same one by a handler that begins it again, in any order: each sets
 * all of its outputs.
 */
static void test_another_call_between(void **state)
{
	static const struct {
		unsigned long lo, hi, n, flags;
	} others[] = {
	    {TABLE + 16, 0, 10, 0}, {TABLE, 0, 11, 0}, {TABLE, 0, 1, 0},      {TABLE, 0, 0, 0},
	    {TABLE, 1, 10, 0},      {TABLE, 0, 10, 1}, {TABLE + 8, 0, 10, 0}, {TABLE, 0, 10, 0},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		uint64_t other = 0;

		put_all(11, CYCLES);
		assert_true(info_again(TABLE, 10));
		vpmu_event_get_info(&vpmu, others[i].lo, others[i].hi, others[i].n, others[i].flags,
		                    &other);
		assert_false(info_again(TABLE, 10));
		assert_int_equal(output(0), 1);
		assert_int_equal(output(9), 1);
	}
}

/* A call that is never continued does not affect the next one. */
static void test_abandoned(void **state)
{
	(void)state;
	put_all(20, CYCLES);
	assert_true(info_again(TABLE, 20));
	assert_true(info_again(TABLE, 20));
	put_all(20, CYCLES);
	assert_true(info_again(TABLE, 20));
	assert_int_equal(output(0), 1);
	assert_int_equal(output(7), 1);
	assert_int_equal(output(8), BEFORE);
}

/* Later slices check all arguments again. */
static void test_checked_again(void **state)
{
	uint64_t next;

	(void)state;
	put_all(20, CYCLES);
	assert_true(info_again(TABLE, 20));
	assert_int_equal(next_entry, 8);
	next = next_entry;
	assert_int_equal(vpmu_event_get_info(&vpmu, TABLE, 1, 20, 0, &next).error,
	                 SBI_ERR_INVALID_ADDRESS);
	assert_int_equal(next, 0);
	next = next_entry;
	assert_int_equal(vpmu_event_get_info(&vpmu, TABLE, 0, 20, 1, &next).error,
	                 SBI_ERR_INVALID_PARAM);
	assert_int_equal(next, 0);
	assert_true(info_again(TABLE, 20));
	assert_false(info_again(TABLE, 20));
	assert_int_equal(output(19), 1);
}

/* Calls of other functions and world switches do not affect it. */
static void test_other_things_between(void **state)
{
	(void)state;
	put_all(10, CYCLES);
	assert_true(info_again(TABLE, 10));
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_false(info_again(TABLE, 10));
	assert_int_equal(ram_bytes_written(), 40);
	assert_int_equal(output(9), 1);
}

int test_vpmu_event_info(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_errors, stub_setup),
	    cmocka_unit_test_setup(test_answers, stub_setup),
	    cmocka_unit_test_setup(test_answer_of_an_empty_pmu, stub_setup),
	    cmocka_unit_test_setup(test_answers_obey_policy, stub_setup),
	    cmocka_unit_test_setup(test_reserved_bits, stub_setup),
	    cmocka_unit_test_setup(test_touches_no_more_than_it_must, stub_setup),
	    cmocka_unit_test_setup(test_whole_ram, stub_setup),
	    cmocka_unit_test_setup(test_slices, stub_setup),
	    cmocka_unit_test_setup(test_raw_events_end_a_slice, stub_setup),
	    cmocka_unit_test_setup(test_changed_between_slices, stub_setup),
	    cmocka_unit_test_setup(test_another_call_between, stub_setup),
	    cmocka_unit_test_setup(test_other_things_between, stub_setup),
	    cmocka_unit_test_setup(test_abandoned, stub_setup),
	    cmocka_unit_test_setup(test_checked_again, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: event info", tests, NULL, NULL);
}
