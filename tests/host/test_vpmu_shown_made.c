/* SPDX-License-Identifier: Apache-2.0 */
/* OF that has to be made on a hart that shows OF of open counters only: where it cannot be, the
 * counter is lost, and a call makes one at most. */
#include "tests/host/vpmu_shown.h"

/* A counter whose OF cannot be made is lost, and never looks as if it had not overflowed. */
static void test_refused_while_it_runs(void **state)
{
	(void)state;
	overflow_cycles();
	stub_leave();
	stub_neighbour();
	stub.fail_start = A;
	stub_come_back();
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	stub.fail_start = 0;
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_run(CYCLES, 1);
	assert_shows(A, 0);
	/* While it is made: the hart's own comes late. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_emulate(false);
	assert_true(stub.show_due);
	stub.fail_start = A;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_false(stub.hctr[3].running);
}

static void stop_and_lose(uint64_t fail_start, uint64_t refuse_prepare)
{
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_leave();
	stub_neighbour();
	stub_come_back();
	stub.fail_start = fail_start;
	stub.refuse_prepare = refuse_prepare;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	stub.fail_start = stub.refuse_prepare = 0;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stop(A, 0), SBI_ERR_ALREADY_STOPPED);
	assert_true(guest_read_is_illegal(3));
}

static void test_refused_while_it_is_stopped(void **state)
{
	uint32_t kind;

	for (kind = 0; kind < 2; kind++) {
		shown_setup(state);
		stop_and_lose(kind == 0 ? A : 0, kind == 0 ? 0 : A);
		assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
		stub_run(CYCLES, 1);
		assert_shows(A, 0);
	}
}

/* What was lost is gone with its configuration. */
static void test_reset_ends_the_loss(void **state)
{
	shown_setup(state);
	stop_and_lose(A, 0);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, CLEAR, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(A, 0, 0), SBI_SUCCESS);
	stub_count(CYCLES, 3);
	assert_shows(0, 3);
}

/* The firmware's refusal is found afterwards. */
static void test_failed_while_it_is_stopped(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_handle_failed(&vpmu, A);
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, CLEAR | AUTO, CYCLES), 3);
	stub_count(CYCLES, 3);
	assert_shows(0, 3);
	/* Without an overflow nothing is lost. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_handle_failed(&vpmu, A);
	assert_shows(0, 3);
	/* Nor where the guest sees no flags of the hart's. */
	stub_setup(state);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_run(CYCLES, 1);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_handle_failed(&vpmu, A);
	assert_int_equal(guest_read(3), 0);
}

/* The hart must not count overflows of TLB events: OF is always 1, so the counter is closed until a
 * poll finds the wrap. */
static void test_polled(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, CLEAR, DTLB), 5);
	assert_int_equal(start(D, INIT, -100UL), SBI_SUCCESS);
	assert_true(stub.hctr[5].flag);
	assert_int_equal(guest_sees(), 0);
	assert_false(guest_reads_direct(5));
	assert_int_equal(stub.polls_after, 100);
	stub_count(DTLB, 60);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(5), -40UL);
	assert_int_equal(stub.polls_after, 40);
	stub_count(DTLB, 42);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_true(stub.show_due);
	assert_int_equal(guest_sees(), D);
	assert_true(guest_reads_direct(5));
	assert_int_equal(guest_read(5), 2);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(guest_read(5), 2);
	/* A stop finds it, too. */
	assert_int_equal(stop(D, 0), SBI_SUCCESS);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(start(D, INIT, -3UL), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	stub_count(DTLB, 4);
	assert_int_equal(stop(D, 0), SBI_SUCCESS);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(guest_read(5), 1);
	assert_int_equal(start(D, INIT, 0), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	stub_count(DTLB, 4);
	assert_int_equal(guest_read(5), 4);
}

/* Its start shows nothing wrong, though another vcpu has left OF = 0 there. */
static void test_polled_after_a_neighbour(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, CLEAR, DTLB), 5);
	stub_leave();
	stub_neighbour();
	stub.hctr[5].flag = false;
	stub_come_back();
	assert_int_equal(start(0, SEED, 0), SBI_ERR_NO_SHMEM);
	assert_int_equal(start(D, INIT, -5UL), SBI_SUCCESS);
	assert_true(stub.hctr[5].flag);
	assert_int_equal(guest_sees(), 0);
}

/* Two at once, and one that is found while another is made. */
static void test_found_while_one_is_made(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -2UL), SBI_SUCCESS);
	stub_leave();
	stub_neighbour();
	stub_come_back();
	stub_count(INSTRS, 2);
	assert_true(stub.pending);
	stub.hctr[3].flag = false;
	stub.show_due = false;
	show_flags();
	assert_int_equal(stub.lcofis, 2);
	assert_shows(A | I, 0);
	assert_int_equal(guest_read(4), 0);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
}

/* Each takes so long that others have their turn in between. */
static void test_one_of_a_call(void **state)
{
	const uint64_t all[] = {CYCLES, INSTRS, DTLB};
	uint64_t value[3];
	uint32_t n;
	bool closed;

	(void)state;
	for (n = 0; n < 3; n++) {
		assert_int_equal(config(HW, 0, all[n]), 3 + n);
		assert_int_equal(start(A << n, INIT, -1UL), SBI_SUCCESS);
		stub_run(all[n], 1 + n);
	}
	assert_int_equal(stop(A | I | D, 0), SBI_SUCCESS);
	for (n = 0; n < 3; n++)
		value[n] = guest_read(3 + n);
	assert_false(vpmu_has_missing_flags(&vpmu));
	leave_and_come_back(true);
	assert_true(vpmu_has_missing_flags(&vpmu));
	stub.show_due = false;
	stub.prepares = 0;
	assert_false(vpmu_show_flags(&vpmu, false, &closed));
	assert_int_equal(stub.prepares, 0);
	for (n = 0; n < 3; n++) {
		/* The neighbour uses those that were made before. */
		if (n == 1)
			leave_and_come_back(true);
		stub.prepares = 0;
		assert_false(vpmu_show_flags(&vpmu, true, &closed));
		assert_int_equal(stub.prepares, 1);
	}
	show_flags();
	assert_false(vpmu_has_missing_flags(&vpmu));
	stub.prepares = 0;
	assert_int_equal(guest_sees(), A | I | D);
	assert_int_equal(stub.prepares, 0);
	for (n = 0; n < 3; n++)
		assert_int_equal(guest_read(3 + n), value[n]);
}

/* A hart that says that it has set OF, and has not. */
static void test_of_that_cannot_be_made(void **state)
{
	uint32_t stopped;

	for (stopped = 0; stopped < 2; stopped++) {
		shown_setup(state);
		overflow_cycles();
		if (stopped)
			assert_int_equal(stop(A, 0), SBI_SUCCESS);
		leave_and_come_back(true);
		stub.clears_flags = true;
		assert_int_equal(guest_sees(), 0);
		assert_true(guest_read_is_illegal(3));
		assert_false(stub.hctr[3].running);
		stub.clears_flags = false;
		assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
		stub_run(CYCLES, 1);
		assert_shows(A, 0);
	}
}

/* A wrap of an armed counter that is not taken yet does not close it. */
static void test_pending_wrap_stays_open(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -2UL), SBI_SUCCESS);
	stub_count(INSTRS, 2);
	show_flags();
	assert_true(guest_reads_direct(4));
	vpmu_overflow(&vpmu);
	assert_shows(A | I, 0);
	assert_int_equal(stub.lcofis, 2);
}

int test_vpmu_shown_made(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_refused_while_it_runs, shown_setup),
	    cmocka_unit_test_setup(test_refused_while_it_is_stopped, shown_setup),
	    cmocka_unit_test_setup(test_reset_ends_the_loss, shown_setup),
	    cmocka_unit_test_setup(test_failed_while_it_is_stopped, shown_setup),
	    cmocka_unit_test_setup(test_polled, shown_setup),
	    cmocka_unit_test_setup(test_polled_after_a_neighbour, shown_setup),
	    cmocka_unit_test_setup(test_found_while_one_is_made, shown_setup),
	    cmocka_unit_test_setup(test_one_of_a_call, shown_setup),
	    cmocka_unit_test_setup(test_of_that_cannot_be_made, shown_setup),
	    cmocka_unit_test_setup(test_pending_wrap_stays_open, shown_setup),
	};

	return cmocka_run_group_tests_name("vpmu: shown OF that is made", tests, NULL, NULL);
}
