/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps whose OF is late, early, or set for only one of several counters; and pending overflows at
 * each call.
 */
#include "tests/host/vpmu_stub.h"

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

/* Both wrapped before anyone read the count; the hardware's OF stood for one of them. */
static void test_wrap_found_by_the_count(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -30UL), 0);
	assert_int_equal(start(B, INIT, -10UL), 0);
	stub_count(CYCLES, 35);
	vpmu_overflow(&vpmu);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(3), 5);
	assert_int_equal(guest_read(18), 25);
}

/* OF is late: the count showed the wrap first, and it is not reported again. */
static void test_late_flag(void **state)
{
	(void)state;
	stub.quiet_flags = true;
	assert_int_equal(start(A, INIT, -30UL), 0);
	assert_int_equal(start(B, INIT, -10UL), 0);
	stub_count(CYCLES, 12);
	assert_int_equal(stop(C, 0), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(start(C, INIT, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
	assert_int_equal(stub.lcofis, 1);
	/* A is armed now. Its OF is late as well, and has no effect after the count has shown the
	 * wrap. */
	stub_count(CYCLES, 18);
	assert_int_equal(stop(C, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
	assert_int_equal(stub.lcofis, 2);
	stub.hctr[3].flag = true;
	stub.pending = true;
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
}

static void test_late_flag_at_stop(void **state)
{
	(void)state;
	stub.quiet_flags = true;
	assert_int_equal(start(A, INIT, -10UL), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(stub.lcofis, 1);
}

/* If OF is early, it is trusted: the hardware has overflowed. */
static void test_flag_is_believed(void **state)
{
	(void)state;
	assert_int_equal(start(A | B, INIT, -10UL), 0);
	stub.hctr[3].flag = true;
	stub.pending = true;
	vpmu_overflow(&vpmu);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
	assert_int_equal(stub.lcofis, 1);
	stub_run(CYCLES, 20);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(stub.lcofis, 1);
}

/* OF after the counter was stopped and started again does not belong to the new run. */
static void test_late_flag_of_an_earlier_run(void **state)
{
	(void)state;
	stub.quiet_flags = true;
	assert_int_equal(start(A, INIT, -10UL), 0);
	stub_count(CYCLES, 12);
	assert_int_equal(stop(A, 0), 0);
	stub.pending = true;
	assert_int_equal(start(A, INIT, -10UL), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.lcofis, 1);
	stub.quiet_flags = false;
	stub_run(CYCLES, 10);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(stub.lcofis, 2);
}

/* An overflow that is pending when the guest makes a call belongs to the counter as it was
 * before. */
static void test_pending_at_each_call(void **state)
{
	unsigned int call;

	(void)state;
	for (call = 0; call < 9; call++) {
		uint32_t of = A;

		setup(NULL);
		assert_int_equal(config(HW, 0, INSTRS), 4);
		assert_int_equal(start(A, INIT, -10UL), 0);
		stub_count(CYCLES, 12);
		assert_true(stub.pending);
		switch (call) {
		case 0:
			assert_int_equal(stop(A, 0), 0);
			break;
		case 1:
			assert_int_equal(stop(A, RESET), 0);
			of = 0;
			break;
		case 2:
			assert_int_equal(start(0x10, INIT, 0), 0);
			break;
		case 3:
			assert_int_equal(start(B, INIT, -5UL), 0);
			break;
		case 4:
			assert_int_equal(config(HW, 0, DTLB), 5);
			break;
		case 5:
			assert_int_equal(config(A, SKIP | CLEAR, CYCLES), 3);
			break;
		case 6:
			stub.refuse_prepare = 0x20;
			assert_int_equal(config_error(HW, 0, DTLB), SBI_ERR_NOT_SUPPORTED);
			break;
		case 7:
			assert_int_equal(stop(0x10, RESET), SBI_ERR_ALREADY_STOPPED);
			assert_int_equal(config(HW, AUTO, INSTRS), 4);
			break;
		default:
			vpmu_save(&vpmu);
			break;
		}
		assert_false(stub.pending);
		assert_int_equal(stub.lcofis, 1);
		assert_int_equal(vpmu_scountovf(&vpmu), of);
		vpmu_overflow(&vpmu);
		assert_int_equal(stub.lcofis, 1);
	}
}

/* A refused call changes nothing, and takes no pending overflow. */
static void test_pending_at_a_refused_call(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -1UL), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(start(A | 2, INIT, 5), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(A, INIT, 5), SBI_ERR_ALREADY_STARTED);
	assert_true(stub.pending);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
}

/* One counter is started while OF of another requires a new anchor. */
static void test_pending_for_another_anchor(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -30UL), 0);
	assert_int_equal(start(B, INIT, -10UL), 0);
	stub_count(CYCLES, 10);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
	assert_int_equal(stub.hctr[3].value, -20UL);
	stub_run(CYCLES, 20);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
	assert_int_equal(stub.lcofis, 2);
}

int test_vpmu_wrap(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_wrap_found_by_the_count, setup),
	    cmocka_unit_test_setup(test_late_flag, setup),
	    cmocka_unit_test_setup(test_late_flag_at_stop, setup),
	    cmocka_unit_test_setup(test_flag_is_believed, setup),
	    cmocka_unit_test_setup(test_late_flag_of_an_earlier_run, setup),
	    cmocka_unit_test_setup(test_pending_at_each_call, setup),
	    cmocka_unit_test_setup(test_pending_at_a_refused_call, setup),
	    cmocka_unit_test_setup(test_pending_for_another_anchor, setup),
	};

	return cmocka_run_group_tests_name("vpmu: wraps and flags", tests, NULL, NULL);
}
