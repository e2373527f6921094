/* SPDX-License-Identifier: Apache-2.0 */
/* Which reads need no exit: those of counters whose hardware counter holds exactly their value. */
#include "tests/host/vpmu_stub.h"
#include "vpmu/observe.h"

static void test_running_alone(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	/* Never started, so the hardware does not hold its value. */
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(8, INIT, 0x8000000000000001), 0);
	assert_int_equal(stub.direct, 8);
	/* The hardware counter has the guest's own value. */
	assert_int_equal(stub.hctr[3].value, 0x8000000000000001);
	stub_count(CYCLES, 10);
	assert_int_equal(guest_read(3), 0x800000000000000b);
}

static void test_stopped_stays_direct(void **state)
{
	unsigned int directs;

	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	directs = stub.directs;
	stub_count(CYCLES, 10);
	assert_int_equal(stop(8, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(start(8, INIT, 5), 0);
	assert_int_equal(guest_read(3), 5);
	/* It never changed, so the port was not told. */
	assert_int_equal(stub.directs, directs);
	assert_int_equal(stop(8, RESET), 0);
	assert_false(guest_reads_direct(3));
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stub.directs, directs + 1);
}

static void test_stopped_value_lost(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 10);
	assert_int_equal(stop(8, 0), 0);
	/* The value is no longer what the hardware holds. */
	assert_int_equal(config(8, CLEAR, CYCLES), 3);
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 0);
	/* Programmed for another filter, the hardware counter may hold anything. */
	assert_int_equal(start(8, INIT, 3), 0);
	assert_int_equal(stop(8, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(config(8, SINH, CYCLES), 3);
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 3);
}

/* A counter and the hctr behind it may have different indices. */
static void test_counter_away_from_home(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 10);
	assert_int_equal(stop(8, 0), 0);
	/* Counter 3 now counts on 4; hardware counter 3 still holds 10. */
	assert_int_equal(config(8, SKIP, INSTRS), 3);
	assert_false(guest_reads_direct(3));
	assert_int_equal(start(8, INIT, 50), 0);
	assert_false(guest_reads_direct(3));
	assert_int_equal(stop(8, 0), 0);
	/* Back on 3 by sharing, so nothing is programmed: the 10 there is not its value. */
	assert_int_equal(config(0x40, 0, CYCLES), 6);
	assert_int_equal(config(8, SKIP, CYCLES), 3);
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 50);
}

/* The same, with the other event prepared before: nothing is programmed, so the old value
 * remains. */
static void test_value_changed_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(config(0x40, 0, CYCLES), 6);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 10);
	assert_int_equal(stop(8, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(config(8, SKIP | AUTO, INSTRS), 3);
	stub_count(INSTRS, 7);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(guest_read(3), 17);
	stub.prepares = 0;
	assert_int_equal(config(8, SKIP, CYCLES), 3);
	assert_int_equal(stub.prepares, 0);
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 17);
}

/* A sharer that continues to run changes the hardware's value. */
static void test_stopped_while_shared(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, CYCLES), 18);
	stub_count(CYCLES, 10);
	assert_true(guest_reads_direct(3));
	assert_int_equal(stop(8, 0), 0);
	assert_false(guest_reads_direct(3));
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(guest_read(18), 15);
	assert_int_equal(stop(1UL << 18, 0), 0);
	assert_false(guest_reads_direct(3));
	/* Both are stopped at once, so the value of 3 remains. */
	assert_int_equal(start(0x40008, INIT, 100), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(stop(0x40008, 0), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 101);
	/* And not any more when the other one uses the hardware counter again. */
	assert_int_equal(start(1UL << 18, 0, 0), 0);
	assert_false(guest_reads_direct(3));
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 101);
	assert_int_equal(guest_read(18), 102);
}

static void test_trap_reads(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.trap_reads = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 10);
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(guest_read(3), 10);
	vpmu_save(&vpmu);
	vpmu_restore(&vpmu);
	assert_int_equal(stub.directs, 0);
}

/* After a refused start, the hardware counter may hold anything. */
static void test_refused_is_not_direct(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stop(8, 0), 0);
	assert_true(guest_reads_direct(3));
	stub.fail_start = 8;
	assert_int_equal(start(8, 0, 0), SBI_ERR_FAILED);
	assert_false(guest_reads_direct(3));
	assert_int_equal(stop(8, 0), SBI_ERR_ALREADY_STOPPED);
	assert_false(guest_reads_direct(3));
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 0);
}

/* A call that fails does not change the direct set. */
static void test_failed_calls(void **state)
{
	unsigned int directs;

	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	directs = stub.directs;
	assert_int_equal(start(8, INIT, 5), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(stop(0x10, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config_error(8, CLEAR, CYCLES), SBI_ERR_NOT_SUPPORTED);
	stub.refuse_prepare = 0x10;
	assert_int_equal(config_error(0x10, CLEAR, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stub.directs, directs);
	assert_int_equal(stub.direct, 8);
}

/* Asking whether a raw event can be counted destroys what the hart holds for stopped counters. */
static void test_asking_for_a_raw_event(void **state)
{
	(void)state;
	stub.asking_evicts = true;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	stub_count(CYCLES, 10);
	stub_count(INSTRS, 5);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(stub.direct, 0x18);
	assert_int_equal(config_error(HW, 0, RAW), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stub.direct, 0x10);
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(guest_read(4), 5);
	assert_int_equal(start(8, 0, 0), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 11);
	/* The same for an observer. */
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, (uint32_t)RAW, 0, 0, 0),
	                 VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(stub.direct, 0x10);
	assert_int_equal(guest_read(3), 11);
}

int test_vpmu_direct(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_running_alone, stub_setup),
	    cmocka_unit_test_setup(test_stopped_stays_direct, stub_setup),
	    cmocka_unit_test_setup(test_stopped_value_lost, stub_setup),
	    cmocka_unit_test_setup(test_counter_away_from_home, stub_setup),
	    cmocka_unit_test_setup(test_value_changed_elsewhere, stub_setup),
	    cmocka_unit_test_setup(test_stopped_while_shared, stub_setup),
	    cmocka_unit_test_setup(test_trap_reads, stub_setup),
	    cmocka_unit_test_setup(test_refused_is_not_direct, stub_setup),
	    cmocka_unit_test_setup(test_failed_calls, stub_setup),
	    cmocka_unit_test_setup(test_asking_for_a_raw_event, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: direct reads", tests, NULL, NULL);
}
