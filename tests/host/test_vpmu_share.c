/* SPDX-License-Identifier: Apache-2.0 */
/* Several counters on one hardware counter. 3 is its index, 17 and 18 share it. */
#include "tests/host/vpmu_stub.h"
#include "vpmu/retired.h"

#define A (1UL << 3)
#define B (1UL << 18)
#define C (1UL << 17)

static int setup(void **state)
{
	stub_setup(state);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, CYCLES), 17);
	return 0;
}

static void test_each_its_own_value(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 1000), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(start(B, INIT, 5), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(start(C, INIT, 0x123456789abcdef0), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(guest_read(3), 1030);
	assert_int_equal(guest_read(18), 25);
	assert_int_equal(guest_read(17), 0x123456789abcdefa);
	/* One start is enough for all, and the home counter can always be read directly. */
	assert_int_equal(stub.starts, 1);
	assert_int_equal(stub.stops, 0);
	assert_int_equal(stub.direct, 8);
}

static void test_each_stops_and_restarts(void **state)
{
	(void)state;
	assert_int_equal(start(A | B | C, INIT, 0), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(stop(B, 0), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(guest_read(18), 1);
	assert_int_equal(start(B, 0, 0), 0);
	stub_count(CYCLES, 100);
	assert_int_equal(guest_read(3), 111);
	assert_int_equal(guest_read(18), 101);
	assert_int_equal(stop(C, RESET), 0);
	assert_true(guest_read_is_illegal(17));
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(start(B, INIT, 7), 0);
	stub_count(CYCLES, 1000);
	assert_int_equal(guest_read(3), 1111);
	assert_int_equal(guest_read(18), 1007);
	/* The value survived the reset. */
	assert_int_equal(config(C, 0, CYCLES), 17);
	assert_int_equal(guest_read(17), 111);
}

static void test_sharer_outlives_home(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 1000), 0);
	assert_int_equal(start(B, INIT, 50), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(stop(A, RESET), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(18), 52);
	assert_int_equal(stub.stops, 0);
	/* Home comes back, with a filter that the sharer does not have: refused. */
	assert_int_equal(config_error(A, SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(A, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 9), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(guest_read(18), 53);
	assert_true(guest_reads_direct(3));
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(guest_read(18), 53);
	assert_int_equal(stop(B | C, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(stub.hctr[3].running, false);
}

/* The home counter joins one that runs already, and becomes the anchor. */
static void test_home_takes_over(void **state)
{
	(void)state;
	assert_int_equal(start(B, INIT, 50), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(stub.direct, 0);
	assert_int_equal(start(A, INIT, 7000), 0);
	assert_int_equal(stub.direct, 8);
	assert_int_equal(stub.hctr[3].value, 7000);
	assert_int_equal(stub.starts, 2);
	assert_int_equal(stub.stops, 1);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 7001);
	assert_int_equal(guest_read(18), 52);
}

/* The first to wrap is the anchor. When it is gone, the home counter can be read directly again. */
static void test_armed_sharer_and_survivor(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 0), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(start(B, INIT, -100UL), 0);
	assert_int_equal(stub.hctr[3].value, -100UL);
	assert_true(stub.hctr[3].armed);
	assert_false(guest_reads_direct(3));
	stub_count(CYCLES, 10);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(guest_read(18), -90UL);
	assert_int_equal(stop(B, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_false(stub.hctr[3].armed);
	assert_int_equal(stub.hctr[3].value, 15);
	stub_count(CYCLES, 1000);
	assert_int_equal(guest_read(3), 1015);
	assert_int_equal(guest_read(18), -90UL);
	assert_int_equal(stub.lcofis, 0);
}

/* A sharer on another index does not become the anchor, except to disarm. */
static void test_no_move_for_nothing(void **state)
{
	(void)state;
	assert_int_equal(start(B | C, INIT, 5), 0);
	assert_int_equal(stub.starts, 1);
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(start(B, INIT, 90), 0);
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(stub.starts, 1);
	assert_int_equal(start(B, INIT, -9UL), 0);
	assert_int_equal(stub.starts, 2);
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(stub.starts, 3);
	assert_false(stub.hctr[3].armed);
	stub_count(CYCLES, 20);
	assert_false(stub.pending);
	assert_int_equal(guest_read(17), 25);
}

static void test_restart_refused(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 10), 0);
	stub_count(CYCLES, 5);
	stub.fail_start = 8;
	/* To arm B the hardware counter must be set, which it refuses: both are lost, and the call
	 * fails. */
	assert_int_equal(start(B, INIT, -3UL), SBI_ERR_FAILED);
	/* A lost counter does not wrap. */
	stub.fail_start = 0;
	assert_int_equal(start(C, INIT, 0), 0);
	stub_run(CYCLES, 20);
	assert_int_equal(stop(C, RESET), 0);
	assert_int_equal(config(C, CLEAR, CYCLES), 17);
	assert_int_equal(stub.lcofis, 0);
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(18));
	assert_int_equal(guest_read(17), 0);
	assert_int_equal(start(A | B, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(start(A, INIT, 15), 0);
	assert_int_equal(start(B, INIT, -3UL), 0);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(guest_read(18), -3UL);
	stub_run(CYCLES, 3);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
	assert_int_equal(stub.lcofis, 1);
}

static void test_clear_one_of_two(void **state)
{
	(void)state;
	assert_int_equal(start(A | B, INIT, -50UL), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(config(A, SKIP | CLEAR, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(guest_read(18), -40UL);
	stub_run(CYCLES, 40);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
	assert_int_equal(guest_read(3), 40);
	assert_int_equal(config(B, SKIP | CLEAR, CYCLES), 18);
	assert_int_equal(guest_read(3), 40);
	assert_int_equal(guest_read(18), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
}

static void test_filters_apply_to_sharers(void **state)
{
	(void)state;
	stub_setup(NULL);
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(config(HW, SINH, CYCLES), 18);
	assert_int_equal(start(A | B, INIT, 0), 0);
	stub_count(CYCLES, 100);
	stub_count_vu(CYCLES, 3);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(guest_read(18), 3);
}

/* A raw event that the hart knows under another name as well: one hardware counter, two values. */
static void test_one_event_under_two_names(void **state)
{
	static const unsigned long names[] = {RAW, RAW2};
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct sbi_ret r =
		    vpmu_counter_config_matching(&vpmu, 0, HW, 0, names[i], RAW_INSTRS);

		assert_int_equal(r.error, SBI_SUCCESS);
		assert_int_equal(r.value, 4);
		assert_int_equal(config(HW & ~(1UL << 4), 0, INSTRS), 16);
		assert_int_equal(start(1UL << 4, INIT, 10), 0);
		assert_int_equal(start(1UL << 16, INIT, 0), 0);
		stub_count(INSTRS, 100);
		/* Emulated instructions count under either name. */
		vpmu_retired(&vpmu, false);
		assert_int_equal(guest_read(4), 111);
		assert_int_equal(guest_read(16), 101);
		/* It is running for the very event that is requested. */
		assert_int_equal(config(1UL << 4, SBI_PMU_CFG_FLAG_SKIP_MATCH, INSTRS), 4);
		assert_int_equal(stop(1UL << 4 | 1UL << 16, RESET), 0);
	}
}

int test_vpmu_share(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_each_its_own_value, setup),
	    cmocka_unit_test_setup(test_one_event_under_two_names, setup),
	    cmocka_unit_test_setup(test_each_stops_and_restarts, setup),
	    cmocka_unit_test_setup(test_sharer_outlives_home, setup),
	    cmocka_unit_test_setup(test_home_takes_over, setup),
	    cmocka_unit_test_setup(test_armed_sharer_and_survivor, setup),
	    cmocka_unit_test_setup(test_no_move_for_nothing, setup),
	    cmocka_unit_test_setup(test_restart_refused, setup),
	    cmocka_unit_test_setup(test_clear_one_of_two, setup),
	    cmocka_unit_test_setup(test_filters_apply_to_sharers, setup),
	};

	return cmocka_run_group_tests_name("vpmu: sharing", tests, NULL, NULL);
}
