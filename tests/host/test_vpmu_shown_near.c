/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that start near their wraps on a hart that shows OF of open counters only: one that
 * would share its counter of the hart is refused, and observers beside it end. */
#include "tests/host/vpmu_shown.h"

#include "vpmu/observe.h"

static void test_auto_start_near(void **state)
{
	(void)state;
	start_cycles(10);
	stub_count(CYCLES, 4);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(A, AUTO, CYCLES), 3);
	assert_shows(0, -6UL);
	stub_run(CYCLES, 6);
	assert_shows(A, 0);
	/* Another counter of the event could not be shown, so it is not started, and is as before:
	 * not configured, */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	assert_int_equal(config(B, 0, CYCLES), 18);
	assert_int_equal(start(B, INIT, FAR), SBI_SUCCESS);
	assert_int_equal(stop(B, 0), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(A, 0, INSTRS), 3);
	assert_int_equal(start(A, INIT, -9UL), SBI_ERR_FAILED);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
}

/* It would share its counter of the hart, or have one of another index. */
static void test_auto_start_near_is_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -7UL), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO | CLEAR, CYCLES), 18);
	stub_count(CYCLES, 5);
	/* Counter 3 keeps configuration, value and OF. */
	assert_int_equal(config_error(A, AUTO, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_shows(0, -7UL);
	assert_int_equal(guest_read(18), 5);
	assert_int_equal(config(A, AUTO | CLEAR, CYCLES), 3);
	stub_count(CYCLES, 2);
	assert_int_equal(guest_read(3), 2);
	assert_int_equal(guest_read(18), 7);
}

/* It keeps OF that the guest sees, too. */
static void test_auto_start_refused_keeps_of(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_away();
	assert_shows(A, 0);
	stub.refuse_prepare = I;
	assert_int_equal(config_error(A, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
	stub.refuse_prepare = D;
	assert_int_equal(config_error(A, AUTO, DTLB), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
}

static void test_second_counter_near_is_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(B, INIT, 7), SBI_SUCCESS);
	assert_int_equal(stop(B, 0), SBI_SUCCESS);
	assert_int_equal(start(B, INIT, -10UL), SBI_ERR_FAILED);
	assert_int_equal(guest_read(18), 7);
	assert_int_equal(stop(B, 0), SBI_ERR_ALREADY_STOPPED);
	/* Nor can the first one be, while there is a second. */
	assert_int_equal(start(A, INIT, -10UL), SBI_ERR_FAILED);
	/* Far from the wrap both count. */
	assert_int_equal(start(A | B, INIT, FAR), SBI_SUCCESS);
	stub_count(CYCLES, 30);
	assert_int_equal(guest_read(3), FAR + 30);
	assert_int_equal(guest_read(18), FAR + 30);
	assert_int_equal(stop(A | B, 0), SBI_SUCCESS);
	/* One that can is started beside one that cannot. */
	assert_int_equal(start(B | I, INIT, -10UL), SBI_ERR_FAILED);
	stub_run(INSTRS, 12);
	assert_int_equal(guest_sees(), I);
	assert_int_equal(guest_read(4), 2);
	assert_int_equal(guest_read(18), FAR + 30);
	/* The second one gone, the first can. */
	assert_int_equal(stop(B, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(start(A, INIT, -10UL), SBI_SUCCESS);
	stub_run(CYCLES, 10);
	assert_shows(A | I, 0);
}

/* Kept values and those of a snapshot are looked at, too. */
static void test_second_counter_by_value(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.snapshot = true;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_snapshot_set_shmem(&vpmu, RAM_BASE, 0, 0).error, SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -20UL), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(guest_read(3), -20UL);
	poke64(RAM_BASE + 8 + 8 * 18UL, -3UL);
	assert_int_equal(start(B, SEED, 0), SBI_ERR_FAILED);
	poke64(RAM_BASE + 8 + 8 * 18UL, 3);
	assert_int_equal(start(B, SEED, 0), SBI_SUCCESS);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(18), 4);
}

/* Another vcpu of the VM may write it at any time. */
static void test_snapshot_is_read_once(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.snapshot = true;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_snapshot_set_shmem(&vpmu, RAM_BASE, 0, 0).error, SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	poke64(RAM_BASE + 8 + 8 * 3, 77);
	poke64(RAM_BASE + 8 + 8 * 4, -2UL);
	poke64(RAM_BASE + 8 + 8 * 18UL, -2UL);
	poke64(RAM_BASE + 8 + 8 * 19UL, 9);
	ram_forget();
	assert_int_equal(start(A | I | B | 1UL << 19, SEED, 0), SBI_ERR_FAILED);
	assert_int_equal(ram_bytes_read(), 4 * 8);
	stub_run(INSTRS, 2);
	assert_int_equal(guest_sees(), I);
	assert_int_equal(guest_read(3), 77);
	assert_int_equal(guest_read(18), 0);
	assert_int_equal(fw_read(19), 9);
}

/* While its OF is shown, or will be, no other counter can be beside it. */
static void test_no_second_counter_beside_it(void **state)
{
	(void)state;
	start_cycles(10);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	stub_run(CYCLES, 10);
	assert_shows(A, 0);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config_error(HW & ~A, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
	assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	/* Where others can count the event, they do. */
	shown_setup(state);
	stub.any_hctr = true;
	start_cycles(10);
	assert_int_equal(config(HW, 0, CYCLES), 4);
	assert_int_equal(start(I, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(guest_sees(), I);
	stub_run(CYCLES, 5);
	assert_shows(A | I, 0);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
	assert_int_equal(guest_read(4), 5);
}

/* Counters that share are not moved by overflows of others. */
static void test_sharers_beside(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A, INIT, 100), SBI_SUCCESS);
	stub_count(CYCLES, 1);
	assert_int_equal(start(B, INIT, 5), SBI_SUCCESS);
	assert_int_equal(start(I, INIT, -4UL), SBI_SUCCESS);
	stub_count(CYCLES, 4);
	stub_run(INSTRS, 4);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), I);
	stub_count(CYCLES, 4);
	assert_int_equal(guest_read(3), 109);
	assert_int_equal(guest_read(18), 13);
}

/* cycle and instret have no bit in scountovf. */
static void test_without_a_bit(void **state)
{
	(void)state;
	assert_int_equal(config(1, 0, CYCLES), 0);
	assert_int_equal(start(1, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 1);
	assert_int_equal(guest_sees(), 0);
	/* Counter 3 counts on the same one of the hart. */
	assert_int_equal(config(HW & ~1UL, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 10), SBI_SUCCESS);
	assert_int_equal(stop(1, 0), SBI_SUCCESS);
	assert_int_equal(start(1, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(3), 15);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(guest_read(0), 0);
}

static void test_near_start_ends_observers(void **state)
{
	(void)state;
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	stub_count(CYCLES, 9);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	stub_count(CYCLES, 2);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(guest_read(3), 7);
	assert_int_equal(stub.unobserved, 0);
	assert_int_equal(start(A, INIT, -6UL), SBI_SUCCESS);
	assert_int_equal(stub.unobserved, 1);
	assert_int_equal(stub.unobserved_value, 11);
	stub_run(CYCLES, 6);
	assert_shows(A, 0);
	/* None can be where it would hide the guest's OF. */
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_GUEST_USES);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 100), VPMU_OBSERVE_GUEST_USES);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_GUEST_USES);
	assert_shows(A, 0);
	assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_OK);
}

/* An overflow of an observer's is not the guest's. */
static void test_samples_beside(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 10), VPMU_OBSERVE_OK);
	stub_run(CYCLES, 35);
	assert_int_equal(stub.samples[0], 3);
	assert_shows(0, 40);
	/* One that pends while the guest starts near its wrap. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_count(CYCLES, 5);
	assert_true(stub.pending);
	assert_int_equal(start(A, INIT, -5UL), SBI_SUCCESS);
	assert_int_equal(stub.samples[0], 4);
	assert_int_equal(stub.unobserved, 1);
	stub_run(CYCLES, 5);
	assert_shows(A, 0);
	assert_int_equal(stub.lcofis, 1);
}

/* Zero is near the wrap of such counters, too. */
static void test_narrow(void **state)
{
	static const uint32_t widths[] = {40, 48};
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		shown_setup_width(widths[i]);
		overflow_cycles();
		leave_and_come_back(true);
		assert_shows(A, 0);
		assert_int_equal(stop(A, 0), SBI_SUCCESS);
		assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
		stub_count(CYCLES, (1UL << (widths[i] - 1)) + 5);
		leave_and_come_back(true);
		assert_shows(0, (1UL << (widths[i] - 1)) + 5);
		stub_count(CYCLES, 1UL << (widths[i] - 1));
		assert_true(stub.pending);
		vpmu_overflow(&vpmu);
		assert_shows(A, 5);
		leave_and_come_back(true);
		assert_shows(A, 5);
		assert_int_equal(stub.lcofis, 2);
	}
}

/* It is read without an exit, though others need it with OF = 1. */
static void test_far_start(void **state)
{
	(void)state;
	start_cycles(1UL << 63);
	assert_false(stub.hctr[3].flag);
	stub_count(CYCLES, 3);
	leave_and_come_back(true);
	assert_shows(0, (1UL << 63) + 3);
	assert_true(guest_reads_direct(3));
	assert_false(stub.hctr[3].flag);
	/* The same where OF of another is made. */
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -1UL), SBI_SUCCESS);
	stub_run(INSTRS, 1);
	leave_and_come_back(true);
	assert_shows(I, (1UL << 63) + 3);
	assert_true(guest_reads_direct(3));
	/* And after one of its own. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, -2UL), SBI_SUCCESS);
	stub_run(CYCLES, 2);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	/* The first time it may have OF = 1 in the hart, and is closed then. */
	assert_int_equal(start(A, INIT, FAR), SBI_SUCCESS);
	assert_shows(I, FAR);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, FAR), SBI_SUCCESS);
	assert_shows(I, FAR);
	assert_true(guest_reads_direct(3));
}

int test_vpmu_shown_near(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_auto_start_near, shown_setup),
	    cmocka_unit_test_setup(test_auto_start_near_is_refused, shown_setup),
	    cmocka_unit_test_setup(test_auto_start_refused_keeps_of, shown_setup),
	    cmocka_unit_test_setup(test_second_counter_near_is_refused, shown_setup),
	    cmocka_unit_test_setup(test_second_counter_by_value, shown_setup),
	    cmocka_unit_test_setup(test_snapshot_is_read_once, shown_setup),
	    cmocka_unit_test_setup(test_no_second_counter_beside_it, shown_setup),
	    cmocka_unit_test_setup(test_sharers_beside, shown_setup),
	    cmocka_unit_test_setup(test_without_a_bit, shown_setup),
	    cmocka_unit_test_setup(test_near_start_ends_observers, shown_setup),
	    cmocka_unit_test_setup(test_samples_beside, shown_setup),
	    cmocka_unit_test_setup(test_narrow, shown_setup),
	    cmocka_unit_test_setup(test_far_start, shown_setup),
	};

	return cmocka_run_group_tests_name("vpmu: shown OF, starts near the wrap", tests, NULL,
	                                   NULL);
}
