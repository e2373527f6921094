/* SPDX-License-Identifier: Apache-2.0 */
/* start and stop: what they check, what they return, and what happens to the value. */
#include "tests/host/vpmu_stub.h"

static void test_start_refuses(void **state)
{
	struct vpmu before;
	uint32_t bit;

	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	before = vpmu;
	/* 4 is not configured: neither starts. */
	assert_int_equal(start(0x18, INIT, 1), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(8 | 1UL << 19, INIT, 1), SBI_ERR_INVALID_PARAM);
	for (bit = 2; bit < 64; bit++)
		assert_int_equal(start(8, 1UL << bit, 1), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(8, 3, 1), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(0x18, 2, 1), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(8, 2, 1), SBI_ERR_NO_SHMEM);
	assert_int_equal(start(0, 2, 1), SBI_ERR_NO_SHMEM);
	assert_memory_equal(&before, &vpmu, sizeof(vpmu));
	assert_int_equal(stub.starts, 0);
}

static void test_already_started(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(8, INIT, 100), 0);
	stub_count(CYCLES, 1);
	/* The running one is left as it is, the other starts all the same. */
	assert_int_equal(start(0x18, INIT, 50), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(guest_read(3), 101);
	assert_int_equal(guest_read(4), 50);
	assert_int_equal(start(0x18, INIT, 60), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(guest_read(3), 101);
	assert_int_equal(guest_read(4), 50);
}

static void test_one_value_for_all(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(start(0xc0018, INIT, 1000), 0);
	stub_count(CYCLES, 1);
	vpmu_fw_event(&vpmu, 5);
	assert_int_equal(guest_read(3), 1001);
	assert_int_equal(guest_read(4), 1000);
	assert_int_equal(guest_read(18), 1001);
	assert_int_equal(fw_read(19), 1001);
}

static void test_several_at_once(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(start(0x38, INIT, 9), 0);
	stub_count(INSTRS, 1);
	assert_int_equal(stop(0x38, 0), 0);
	assert_int_equal(stub.stops, 1);
	assert_int_equal(stub.last_stop, 0x38);
	/* All three can still be read directly. */
	assert_int_equal(stub.direct, 0x38);
	assert_int_equal(guest_read(3), 9);
	assert_int_equal(guest_read(4), 10);
	/* Stopping one does not change the values of the others. */
	assert_int_equal(start(8, 0, 0), 0);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(stub.direct, 0x38);
	/* Refused one after the other, both are lost. */
	stub.fail_start = 0x18;
	assert_int_equal(start(8, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(start(0x10, 0, 0), SBI_ERR_FAILED);
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(4));
}

static void test_start_goes_on(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, 10), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(8, 0), 0);
	stub_count(CYCLES, 100);
	/* Without the flag the argument is ignored. */
	assert_int_equal(start(8, 0, 777), 0);
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 20);
}

static void test_start_refused_by_hart(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	stub.fail_start = 8;
	assert_int_equal(start(0x18, INIT, 70), SBI_ERR_FAILED);
	/* The other runs. The refused one has no value, and counts nothing. */
	assert_int_equal(guest_read(4), 70);
	assert_true(guest_read_is_illegal(3));
	assert_false(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(start(0x18, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(stop(8, 0), SBI_ERR_ALREADY_STOPPED);
	assert_true(guest_read_is_illegal(3));
	/* It may be started again. */
	stub.fail_start = 0;
	assert_int_equal(start(8, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(start(8, INIT, 70), 0);
	assert_true(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 70);
	assert_true(vpmu_wfi_must_trap(&vpmu));
}

static void test_lost_then_configured(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	stub_away();
	stub.refuse_prepare = 8;
	assert_int_equal(start(8, INIT, 70), SBI_ERR_FAILED);
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 70);
	assert_int_equal(start(8, INIT, 70), SBI_ERR_FAILED);
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(vpmu.lost | vpmu.configured, 0);
}

static void test_stop_refuses(void **state)
{
	struct vpmu before;
	uint32_t bit;

	(void)state;
	assert_int_equal(config(8, AUTO, CYCLES), 3);
	before = vpmu;
	for (bit = 2; bit < 64; bit++) {
		assert_int_equal(stop(8, 1UL << bit), SBI_ERR_INVALID_PARAM);
		assert_int_equal(stop(8, RESET | 2UL | 1UL << bit), SBI_ERR_INVALID_PARAM);
	}
	assert_int_equal(stop(8, 2), SBI_ERR_NO_SHMEM);
	assert_int_equal(stop(8, 3), SBI_ERR_NO_SHMEM);
	assert_int_equal(stop(0, 2), SBI_ERR_NO_SHMEM);
	assert_memory_equal(&before, &vpmu, sizeof(vpmu));
	assert_int_equal(stub.stops, 0);
}

static void test_already_stopped(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	/* 4 is stopped, 5 unconfigured; 3 is stopped nevertheless. */
	assert_int_equal(stop(0x38, 0), SBI_ERR_ALREADY_STOPPED);
	assert_false(stub.hctr[3].running);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(stop(8, 0), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(stop(0x20, 0), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(stop(1UL << 34, 0), SBI_ERR_ALREADY_STOPPED);
	/* This has configured nothing. */
	assert_int_equal(vpmu.configured, 0x18);
	assert_int_equal(stub.stops, 1);
}

static void test_reset(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	/* All counters are reset, running or not. The error is about the stopped one. */
	assert_int_equal(stop(0x18, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(4));
	assert_int_equal(start(8, 0, 0), SBI_ERR_INVALID_PARAM);
	/* The event is gone, so another filter is possible. */
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(stop(0x10, RESET), 0);
	assert_int_equal(vpmu.configured, 0);
}

static void test_plain_stop_keeps(void **state)
{
	(void)state;
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(start(8, INIT, -2UL), 0);
	stub_count_vu(CYCLES, 5);
	vpmu_overflow(&vpmu);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	stub.prepares = 0;
	assert_int_equal(start(8, 0, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.prepares, 0);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_INH_VS);
	stub_count_vu(CYCLES, 1);
	assert_int_equal(guest_read(3), 4);
	assert_int_equal(stop(8, RESET), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
}

static void test_reset_forgets_overflow(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, -2UL), 0);
	stub_run(CYCLES, 5);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(guest_read(3), 3);
}

static void test_narrow_values(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.width = 32;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(start(0xc0008, INIT, 0x1234567ffffffffe), 0);
	assert_int_equal(guest_read(3), 0xfffffffe);
	stub_run(CYCLES, 5);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(guest_read(18), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x40008);
	assert_int_equal(stop(0x40008, 0), 0);
	assert_int_equal(guest_read(18), 3);
	/* Firmware counters are 64 bits wide whatever the hardware is. */
	vpmu_fw_event(&vpmu, 5);
	assert_int_equal(fw_read(19), 0x1234567fffffffff);
}

static void test_vpmu_reset(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	vpmu_fw_event(&vpmu, 5);
	assert_int_equal(start(8, INIT, -1UL), 0);
	stub_count(CYCLES, 1);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(stub.direct, 0);
	assert_int_equal(stub.stops, 1);
	assert_int_equal(stub.last_stop, 0x18);
	assert_int_equal(vpmu_num_counters(&vpmu).value, 35);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(vpmu_counter_fw_read(&vpmu, 19).error, SBI_ERR_INVALID_PARAM);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	assert_int_equal(fw_read(19), 0);
	/* Nothing to stop, so nothing is called. */
	vpmu_reset(&vpmu);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.stops, 1);
}

int test_vpmu_start_stop(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_start_refuses, stub_setup),
	    cmocka_unit_test_setup(test_already_started, stub_setup),
	    cmocka_unit_test_setup(test_one_value_for_all, stub_setup),
	    cmocka_unit_test_setup(test_several_at_once, stub_setup),
	    cmocka_unit_test_setup(test_start_goes_on, stub_setup),
	    cmocka_unit_test_setup(test_start_refused_by_hart, stub_setup),
	    cmocka_unit_test_setup(test_lost_then_configured, stub_setup),
	    cmocka_unit_test_setup(test_stop_refuses, stub_setup),
	    cmocka_unit_test_setup(test_already_stopped, stub_setup),
	    cmocka_unit_test_setup(test_reset, stub_setup),
	    cmocka_unit_test_setup(test_plain_stop_keeps, stub_setup),
	    cmocka_unit_test_setup(test_reset_forgets_overflow, stub_setup),
	    cmocka_unit_test_setup(test_narrow_values, stub_setup),
	    cmocka_unit_test_setup(test_vpmu_reset, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: start and stop", tests, NULL, NULL);
}
