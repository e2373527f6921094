/* SPDX-License-Identifier: Apache-2.0 */
/* A hart that silently fails to do what it was told: the counter is lost, or as it was before. */
#include "tests/host/vpmu_stub.h"

#define A (1UL << 3)
#define B (1UL << 4)

static int setup(void **state)
{
	stub_setup(state);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	return 0;
}

/* The hardware counter behind it, which is 3, was not started. */
static void start_failed(void)
{
	stub.hctr[3].running = false;
	vpmu_handle_failed(&vpmu, A);
}

static void test_a_start_that_failed(void **state)
{
	(void)state;
	assert_int_equal(start(A | B, INIT, 70), 0);
	start_failed();
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stub.direct, B);
	stub_count(INSTRS, 5);
	assert_int_equal(guest_read(4), 75);
	assert_int_equal(stop(B, 0), 0);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(stop(A, 0), SBI_ERR_ALREADY_STOPPED);
	/* Its value is unknown, so only a start with a value is possible. */
	assert_int_equal(start(A, 0, 0), SBI_ERR_FAILED);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(start(A, INIT, 7), 0);
	stub_count(CYCLES, 2);
	assert_int_equal(guest_read(3), 9);
}

static void test_a_resume_that_failed(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 70), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(start(A, 0, 0), 0);
	start_failed();
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(start(A, 0, 0), SBI_ERR_FAILED);
	/* Or it is configured again: its old value is gone with the old event. */
	assert_int_equal(config(A, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(A, 0, 0), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 5);
}

/* A config_matching with AUTO_START that is refused leaves the counter lost. */
static void test_it_stays_so(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 70), 0);
	start_failed();
	stub.refuse_prepare = A;
	assert_int_equal(config_error(A, SBI_PMU_CFG_FLAG_AUTO_START, CYCLES),
	                 SBI_ERR_NOT_SUPPORTED);
	stub.refuse_prepare = 0;
	assert_int_equal(start(A, 0, 0), SBI_ERR_FAILED);
	assert_true(guest_read_is_illegal(3));
}

static void test_sharers_are_lost_together(void **state)
{
	(void)state;
	assert_int_equal(config(1UL << 18, 0, CYCLES), 18);
	assert_int_equal(start(A, INIT, 1000), 0);
	assert_int_equal(start(1UL << 18, INIT, -3UL), 0);
	start_failed();
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(18));
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(start(A, INIT, 0), 0);
	stub_count(CYCLES, 4);
	assert_int_equal(guest_read(3), 4);
	assert_true(guest_read_is_illegal(18));
}

static void test_a_stop_that_failed(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, 10), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(A, 0), 0);
	vpmu_handle_failed(&vpmu, A);
	/* The hardware may still run. Its value is not read, and is set again. */
	assert_false(guest_reads_direct(3));
	stub.hctr[3].value += 100;
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(start(A, 0, 0), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 20);
}

static void test_what_was_parked_is_set_anew(void **state)
{
	unsigned int starts;

	(void)state;
	assert_int_equal(start(A, INIT, 10), 0);
	stub_count(CYCLES, 5);
	vpmu_save(&vpmu);
	vpmu_handle_failed(&vpmu, A);
	stub.hctr[3].value += 100;
	starts = stub.starts;
	vpmu_restore(&vpmu);
	assert_int_equal(stub.starts, starts + 1);
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 20);
}

/* The hart has not taken the value of a polled counter that comes back: nobody reads what it has
 * instead, which would look like a wrap. */
static void test_no_poll_reads_what_was_not_set(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(start(1UL << 5, INIT, -100UL), 0);
	stub.fail_start = 1UL << 5;
	stub_away();
	assert_true(guest_read_is_illegal(5));
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.lcofis, 0);
}

static void start_both_fixed(void)
{
	assert_int_equal(config(HW, CLEAR | SINH, CYCLES), 3);
	assert_int_equal(config(HW, CLEAR | UINH, CYCLES), 0);
	assert_int_equal(config(HW, CLEAR | SINH, INSTRS), 4);
	assert_int_equal(config(HW, CLEAR | UINH, INSTRS), 2);
	assert_int_equal(start(5, INIT, -100UL), 0);
}

static void both_are_lost(void)
{
	assert_true(guest_read_is_illegal(0));
	assert_true(guest_read_is_illegal(2));
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.lcofis, 0);
}

/* Nor what the fixed counters have, when one of two is lost, or when an instruction is emulated. */
static void test_two_fixed_counters_are_lost(void **state)
{
	(void)state;
	stub_setup(state);
	stub.filters = true;
	start_both_fixed();
	stub.fail_start = 5;
	stub_away();
	both_are_lost();
}

static void test_two_fixed_counters_are_lost_by_an_instruction(void **state)
{
	(void)state;
	stub_setup(state);
	stub.filters = true;
	start_both_fixed();
	stub.fail_start = 5;
	stub_emulate(false);
	both_are_lost();
}

/* A counter of the same call joins the one that was not set. The value found there is of another
 * time, and lower than the one that was to be set, as behind a wrap. */
static void test_what_was_not_set_has_not_wrapped(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.snapshot = true;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_snapshot_set_shmem(&vpmu, RAM_BASE, 0, 0).error, SBI_SUCCESS);
	assert_int_equal(config(1, 0, CYCLES), 0);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(1, INIT, -20UL), SBI_SUCCESS);
	assert_int_equal(stop(1, 0), SBI_SUCCESS);
	poke64(RAM_BASE + 8, -10UL);
	poke64(RAM_BASE + 8 + 8 * 3, 70);
	stub.fail_start = A;
	(void)start(1 | A, SEED, 0);
	stub_settle();
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_true(guest_read_is_illegal(0));
	assert_true(guest_read_is_illegal(3));
}

int test_vpmu_failed(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_a_start_that_failed, setup),
	    cmocka_unit_test_setup(test_a_resume_that_failed, setup),
	    cmocka_unit_test_setup(test_it_stays_so, setup),
	    cmocka_unit_test_setup(test_sharers_are_lost_together, setup),
	    cmocka_unit_test_setup(test_a_stop_that_failed, setup),
	    cmocka_unit_test_setup(test_what_was_parked_is_set_anew, setup),
	    cmocka_unit_test(test_no_poll_reads_what_was_not_set),
	    cmocka_unit_test(test_two_fixed_counters_are_lost),
	    cmocka_unit_test(test_two_fixed_counters_are_lost_by_an_instruction),
	    cmocka_unit_test(test_what_was_not_set_has_not_wrapped),
	};

	return cmocka_run_group_tests_name("vpmu: what failed", tests, NULL, NULL);
}
