/* SPDX-License-Identifier: Apache-2.0 */
/* config_matching: which events and flags, SKIP_MATCH, CLEAR_VALUE, AUTO_START. */
#include "tests/host/vpmu_stub.h"

static long event_error(unsigned long event_idx, uint64_t event_data)
{
	return vpmu_counter_config_matching(&vpmu, 0, HW | FWS, 0, event_idx, event_data).error;
}

static void test_reserved_flags(void **state)
{
	uint32_t bit;

	(void)state;
	for (bit = 8; bit < 64; bit++) {
		assert_int_equal(config_error(HW, 1UL << bit, CYCLES), SBI_ERR_INVALID_PARAM);
		assert_int_equal(config_error(HW, SKIP | 1UL << bit, CYCLES),
		                 SBI_ERR_INVALID_PARAM);
		/* A bad flag comes before a bad event. */
		assert_int_equal(config_error(HW, 1UL << bit, 0), SBI_ERR_INVALID_PARAM);
	}
	assert_int_equal(vpmu.configured, 0);
	assert_int_equal(config(HW, 0xf8, CYCLES), 3);
}

static void test_no_such_event(void **state)
{
	static const unsigned long none[] = {
	    0, /* NO_EVENT */
	    11,
	    0xffff, /* beyond table 31 */
	    3,
	    9,       /* known, not counted by this hart */
	    0x10038, /* cache 7 */
	    0x1001e, /* operation 3 */
	    0x1001f, /* operation 3, miss */
	    0x10008, /* known, not counted */
	    0x18019, /* code bit 15 */
	    0x40001,
	    0x50001,
	    0xe0001, /* no such type */
	    0xf000e,
	    0xf0003,
	    0xf0016, /* firmware: not counted truly, table's end */
	    0xf001f,
	    0xf0020,
	    0xf0024, /* shift counts of the mask and beyond */
	    0xf0100,
	    0xfffff, /* implementation's own, PLATFORM */
	    0x100001,
	    0x8000000000000001,
	    1UL << 32 | 1, /* above bit 19 */
	};
	uint32_t bit;
	unsigned long i;

	(void)state;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(event_error(none[i], 0), SBI_ERR_NOT_SUPPORTED);
	for (bit = 20; bit < 64; bit++)
		assert_int_equal(event_error(CYCLES | 1UL << bit, 0), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0);
	assert_int_equal(stub.prepares, 0);
}

/* The ends of the tables, on a hart that would count anything. */
static void test_ends_of_tables(void **state)
{
	static const unsigned long last[] = {10, 0x10000, 0x10035, 0x1003d & ~8UL, 0x10034};
	static const unsigned long beyond[] = {
	    0,       11,      0x8001,  0xffff,  0x10006, 0x10007, 0x1002e, 0x10036, 0x10037,
	    0x10038, 0x1003d, 0x18000, 0x20001, 0x28000, 0x30001, 0x40001, 0x80000, 0xe0001};
	unsigned long i;

	(void)state;
	stub.any_event = true;
	for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		assert_int_equal(event_error(beyond[i], 0), SBI_ERR_NOT_SUPPORTED);
	for (i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		assert_int_equal(event_error(last[i], 0), SBI_SUCCESS);
		assert_int_equal(stub.hctr[3].config.event_idx, last[i]);
		assert_int_equal(stop(HW, RESET), SBI_ERR_ALREADY_STOPPED);
	}
}

static void test_event_data(void **state)
{
	(void)state;
	assert_int_equal(event_error(CYCLES, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(CYCLES, 1UL << 63), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(DTLB, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(FW(5), 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(RAW, 1UL << 48), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(RAW | 1, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(RAW2, 1UL << 56), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(event_error(RAW2 | 1, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0);
	assert_int_equal(event_error(RAW, (1UL << 48) - 1), SBI_SUCCESS);
	assert_int_equal(stub.hctr[8].config.event_data, (1UL << 48) - 1);
	assert_int_equal(event_error(RAW2, (1UL << 56) - 1), SBI_SUCCESS);
	assert_int_equal(stub.hctr[9].config.event_data, (1UL << 56) - 1);
	assert_int_equal(stub.hctr[9].config.event_idx, RAW2);
}

/* Of 32 combinations of filters there are four. */
static void test_filters(void **state)
{
	unsigned long flags;

	(void)state;
	for (flags = 0; flags < 0x100; flags += 8) {
		uint32_t inhibit = 0;

		stub_setup(NULL);
		if ((flags & UINH) != 0)
			inhibit |= HW_INH_VU;
		if ((flags & SINH) != 0)
			inhibit |= HW_INH_VS;
		assert_int_equal(config(HW, flags, CYCLES), 3);
		assert_int_equal(stub.hctr[3].config.inhibit, inhibit);
		assert_int_equal(start(8, 0, 0), 0);
		assert_int_equal(stub.hctr[3].config.inhibit, inhibit);
		stub_count(CYCLES, 1000);
		stub_count_vu(CYCLES, 1);
		assert_int_equal(guest_read(3),
		                 ((flags & SINH) != 0 ? 0 : 1000) + ((flags & UINH) != 0 ? 0 : 1));
	}
}

static void test_skip_match(void **state)
{
	(void)state;
	/* The first of the set, never configured before, not the event's home. */
	assert_int_equal(config(1, SKIP, CYCLES), 0);
	assert_int_equal(config(4 | 0x10, SKIP, INSTRS), 2);
	assert_int_equal(start(5, 0, 0), 0);
	stub_count(CYCLES, 7);
	stub_count(INSTRS, 5);
	assert_int_equal(guest_read(0), 7);
	assert_int_equal(guest_read(2), 5);
	/* The first, also if another could and it cannot. */
	assert_int_equal(config_error(HW | FWS, SKIP, FW(5)), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(FWS, SKIP, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(0x40, SKIP, CYCLES | 2), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(FWS, SKIP, FW(5)), 19);
	/* A stopped one is given another event; its value stays. */
	assert_int_equal(config(0x40, SKIP | AUTO, CYCLES), 6);
	stub_count(CYCLES, 7);
	assert_int_equal(stop(0x40, 0), 0);
	assert_int_equal(config(0x40, SKIP, DTLB), 6);
	assert_int_equal(guest_read(6), 7);
	assert_int_equal(start(0x40, 0, 0), 0);
	stub_count(CYCLES, 100);
	stub_count(DTLB, 1);
	assert_int_equal(guest_read(6), 8);
}

/* They are read as cycle and instret. */
static void test_counters_0_and_2(void **state)
{
	static const unsigned long others[] = {DTLB, RAW, RAW2, 0x3};
	uint32_t i;

	(void)state;
	stub.any_event = true;
	assert_int_equal(config_error(1, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(4, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(5, SKIP, INSTRS), SBI_ERR_NOT_SUPPORTED);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(config_error(5, 0, others[i]), SBI_ERR_NOT_SUPPORTED);
		assert_int_equal(config_error(1, SKIP, others[i]), SBI_ERR_NOT_SUPPORTED);
		assert_int_equal(config_error(4, SKIP, others[i]), SBI_ERR_NOT_SUPPORTED);
	}
	/* On a hart with homes. What a hart can count is asked once, so this is another vcpu. */
	stub_setup(state);
	assert_int_equal(config(5, AUTO, CYCLES), 0);
	assert_int_equal(config(5, AUTO, INSTRS), 2);
	assert_int_equal(config_error(5, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	stub_count(CYCLES, 3);
	stub_count(INSTRS, 4);
	assert_int_equal(guest_read(0), 3);
	assert_int_equal(guest_read(2), 4);
	/* Stopped, they are passed over all the same. */
	assert_int_equal(stop(5, 0), 0);
	assert_int_equal(config_error(5, 0, DTLB), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(1, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(0x25, 0, DTLB), 5);
	assert_int_equal(config(5, UINH, INSTRS), 2);
	assert_int_equal(guest_read(0), 3);
}

static void test_skip_match_running(void **state)
{
	unsigned int starts;

	(void)state;
	assert_int_equal(config(8, AUTO | SINH, CYCLES), 3);
	stub_count_vu(CYCLES, 40);
	starts = stub.starts;
	assert_int_equal(config(8, SKIP | SINH, CYCLES), 3);
	assert_int_equal(config(8, SKIP | AUTO | SINH | 0x98, CYCLES), 3);
	assert_int_equal(guest_read(3), 40);
	assert_int_equal(config_error(8, SKIP, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(8, SKIP | SINH, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(8, SKIP | SINH | CLEAR, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(guest_read(3), 40);
	assert_int_equal(stub.starts, starts);
	assert_int_equal(config(8, SKIP | CLEAR | SINH, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_true(guest_reads_direct(3));
	stub_count_vu(CYCLES, 2);
	assert_int_equal(guest_read(3), 2);
	/* OF is not part of the value. */
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(start(8, INIT, -1UL), 0);
	stub_count_vu(CYCLES, 3);
	vpmu_overflow(&vpmu);
	assert_int_equal(config(8, SKIP | CLEAR | SINH, CYCLES), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	assert_int_equal(guest_read(3), 0);
}

static void test_clear_value(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(8, INIT, 500), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 505);
	/* Forgotten by RESET, configured again: the value goes on. */
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 505);
	assert_int_equal(start(8, 0, 99), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 506);
	assert_int_equal(stop(8, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(config(8, CLEAR, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(8, 0, 99), 0);
	stub_count(CYCLES, 2);
	assert_int_equal(guest_read(3), 2);
}

static void test_auto_start(void **state)
{
	(void)state;
	assert_int_equal(config(8, AUTO, CYCLES), 3);
	stub_count(CYCLES, 30);
	assert_int_equal(guest_read(3), 30);
	assert_int_equal(start(8, INIT, 1), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(stop(8, RESET), 0);
	/* No impact on the value. */
	assert_int_equal(config(8, AUTO, CYCLES), 3);
	stub_count(CYCLES, 4);
	assert_int_equal(guest_read(3), 34);
	assert_int_equal(stop(8, RESET), 0);
	assert_int_equal(config(8, AUTO | CLEAR, CYCLES), 3);
	stub_count(CYCLES, 4);
	assert_int_equal(guest_read(3), 4);
}

/* OF goes with the configuration it came from. */
static void test_config_clears_overflow(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, -1UL), 0);
	stub_run(CYCLES, 1);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
}

int test_vpmu_config(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_reserved_flags, stub_setup),
	    cmocka_unit_test_setup(test_no_such_event, stub_setup),
	    cmocka_unit_test_setup(test_ends_of_tables, stub_setup),
	    cmocka_unit_test_setup(test_event_data, stub_setup),
	    cmocka_unit_test_setup(test_filters, stub_setup),
	    cmocka_unit_test_setup(test_skip_match, stub_setup),
	    cmocka_unit_test_setup(test_counters_0_and_2, stub_setup),
	    cmocka_unit_test_setup(test_skip_match_running, stub_setup),
	    cmocka_unit_test_setup(test_clear_value, stub_setup),
	    cmocka_unit_test_setup(test_auto_start, stub_setup),
	    cmocka_unit_test_setup(test_config_clears_overflow, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: config_matching", tests, NULL, NULL);
}
