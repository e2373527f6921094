/* SPDX-License-Identifier: Apache-2.0 */
/* config_matching: which counter is chosen, which hardware counter is behind it, and what is
 * refused. */
#include "tests/host/vpmu_stub.h"

static uint32_t backed_by(unsigned long idx)
{
	return vpmu.counter[idx].hctr;
}

static void test_home_is_direct(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(stub.prepares, 2);
	assert_int_equal(start(0x18, INIT, 0), 0);
	assert_int_equal(stub.direct, 0x18);
	assert_int_equal(stub.starts, 1);
	assert_int_equal(stub.last_n, 2);
}

static void test_mask_without_home(void **state)
{
	(void)state;
	/* The highest of the mask: low indices are homes. */
	assert_int_equal(config(0xe0, 0, CYCLES), 7);
	assert_int_equal(backed_by(7), 3);
	assert_int_equal(start(0x80, INIT, 12), 0);
	assert_int_equal(stub.direct, 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(7), 13);
}

static void test_second_of_the_same_event_shares(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, CYCLES), 17);
	assert_int_equal(backed_by(18), 3);
	assert_int_equal(backed_by(17), 3);
	assert_int_equal(stub.prepares, 1);
	assert_int_equal(start(0x60008, 0, 0), 0);
	assert_int_equal(stub.last_n, 1);
	stub_count(CYCLES, 3);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(guest_read(17), 3);
	assert_int_equal(guest_read(18), 3);
}

/* Also on a hart where another counter could take it. */
static void test_sharing_comes_before_a_free_hctr(void **state)
{
	(void)state;
	stub.any_hctr = true;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(backed_by(18), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(0x40, 0, INSTRS), 6);
	assert_int_equal(backed_by(6), 4);
}

static void test_free_platform(void **state)
{
	(void)state;
	stub.any_hctr = true;
	/* Direct if the set permits it. */
	assert_int_equal(config(0x7fc0, 0, CYCLES), 6);
	assert_int_equal(backed_by(6), 6);
	/* Another filter takes another counter. */
	assert_int_equal(config(0x7fc0, SINH, CYCLES), 7);
	assert_int_equal(config(0x7fc0, UINH, CYCLES), 8);
	assert_int_equal(config(0x7fc0, UINH | SINH, CYCLES), 9);
	assert_int_equal(config(0x7fc0, UINH | SINH, INSTRS), 10);
	/* No index of the set is a permitted hctr, so the lowest free one is used. */
	assert_int_equal(config(5, 0, INSTRS), 2);
	assert_int_equal(backed_by(2), 3);
}

static void test_second_filter_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	/* Configured, running and stopped alike. */
	assert_int_equal(config_error(HW, SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(start(8, 0, 0), 0);
	assert_int_equal(config_error(HW, SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(config_error(HW, SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stub.prepares, 1);
	/* Flags without effect do not make another filter. */
	assert_int_equal(config(HW, 0x98, CYCLES), 18);
	assert_int_equal(stop(0x40008, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_INH_VS);
}

static void test_raw_events_take_turns(void **state)
{
	unsigned long i;

	(void)state;
	for (i = 1; i <= 4; i++)
		assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, i).value,
		                 7 + i);
	/* All four that can count it are in use. The same data shares, other data is refused. */
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, 5).error,
	                 SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, 3).value, 18);
	assert_int_equal(backed_by(18), 10);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW2, 3).error,
	                 SBI_ERR_NOT_SUPPORTED);
}

static void test_not_granted(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.hctrs = 0xe0;
	stub_setup_policy(&policy);
	assert_int_equal(config_error(0xe0, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(0xe0, SKIP, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(0xe0, 0, DTLB), 5);
	policy.hctrs = 0;
	stub_setup_policy(&policy);
	assert_int_equal(config_error(FWS, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(8, 0, CYCLES), SBI_ERR_INVALID_PARAM);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
}

static void test_running_never_chosen(void **state)
{
	(void)state;
	assert_int_equal(config(8, AUTO, CYCLES), 3);
	assert_int_equal(config_error(8, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(0x18, 0, CYCLES), 4);
	assert_int_equal(config(FWS & 0x180000, AUTO, FW(5)), 19);
	assert_int_equal(config(FWS & 0x180000, AUTO, FW(5)), 20);
	assert_int_equal(config_error(FWS & 0x180000, 0, FW(6)), SBI_ERR_NOT_SUPPORTED);
}

static void test_stopped_chosen_last(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(config(0x18, 0, INSTRS), 4);
	/* None unconfigured in the set: the lowest stopped one is dropped. */
	assert_int_equal(config(0x18, 0, DTLB), 3);
	assert_int_equal(backed_by(3), 5);
	/* What it gave up can be used by others. */
	assert_int_equal(config(1UL << 6, SINH, CYCLES), 6);
	/* Firmware likewise. */
	assert_int_equal(config(0x180000, 0, FW(5)), 19);
	assert_int_equal(config(0x180000, 0, FW(5)), 20);
	assert_int_equal(config(0x180000, 0, FW(6)), 19);
	assert_int_equal(config(0x180000, AUTO, FW(7)), 19);
	assert_int_equal(config(0x180000, 0, FW(8)), 20);
}

/* A dropped configuration may be the very one that stood in the way. */
static void test_drop_makes_room(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(config(8, SINH, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_INH_VS);
	/* 3 is lower, but only dropping 4 frees the home counter of instructions. */
	assert_int_equal(config(0x10, 0, INSTRS), 4);
	assert_int_equal(config(0x18, UINH, INSTRS), 4);
	assert_int_equal(vpmu.event[3].event_idx, CYCLES);
	/* A sharer outside the set still needs it, so the call is refused and nothing is
	 * dropped. */
	assert_int_equal(config(0x20, SINH, CYCLES), 5);
	assert_int_equal(config_error(0x8, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0x38);
	/* It is configured for what it counts already, so nothing is programmed. */
	stub.prepares = 0;
	assert_int_equal(config(8, SINH, CYCLES), 3);
	assert_int_equal(stub.prepares, 0);
}

static void test_classes_do_not_mix(void **state)
{
	(void)state;
	assert_int_equal(config_error(FWS, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, 0, FW(5)), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(0x7fffffffd, 0, FW(5)), 19);
	assert_int_equal(config(0x7fffffffd, 0, CYCLES), 3);
	assert_int_equal(config(0x7fffffffd, 0, FW(5)), 20);
}

static void test_auto_start_refused(void **state)
{
	(void)state;
	stub.fail_start = 8;
	assert_int_equal(config_error(HW, AUTO, CYCLES), SBI_ERR_FAILED);
	assert_int_equal(vpmu.configured | vpmu.lost | vpmu.running, 0);
	assert_true(guest_read_is_illegal(3));
	stub.fail_start = 0;
	assert_int_equal(config(HW, AUTO | SINH, CYCLES), 3);
}

/* A counter that would have been configured again is as it was. Another vcpu has used the hart's
 * counters of those that are stopped, so a start prepares them again. */
static void test_take_over_refused(void **state)
{
	(void)state;
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, -5UL), 0);
	stub_run(CYCLES, 7);
	assert_int_equal(stop(8, 0), 0);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	stub_away();
	stub.refuse_prepare = 0x18;
	/* By another event, by another filter, by the same. */
	assert_int_equal(config_error(8, AUTO | CLEAR, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(8, AUTO | CLEAR | SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(8, AUTO | SKIP, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(guest_read(3), 2);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	stub.refuse_prepare = 0;
	assert_int_equal(start(8, 0, 0), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 3);
	/* One that was lost is lost. */
	assert_int_equal(stop(8, 0), 0);
	stub_away();
	stub.refuse_prepare = 0x18;
	assert_int_equal(start(8, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(config_error(8, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_true(guest_read_is_illegal(3));
	/* One that was not configured is not. */
	assert_int_equal(config_error(0x10, AUTO | SKIP, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0x18);
	assert_int_equal(config_error(0x20, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0x18);
}

static void test_prepare_refused(void **state)
{
	struct vpmu before;

	(void)state;
	stub.refuse_prepare = 1UL << 4;
	assert_int_equal(config_error(HW, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu.configured, 0);
	/* Also where a configured counter would have been taken over. */
	assert_int_equal(config(8, 0, CYCLES), 3);
	before = vpmu;
	assert_int_equal(config_error(8, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_memory_equal(&before, &vpmu, sizeof(vpmu));
}

/* And so is every other counter. */
static void test_take_over_refused_beside_others(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(config(HW, 0, DTLB), 17);
	assert_int_equal(start(1UL << 18, INIT, -3UL), 0);
	stub_run(CYCLES, 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	stub_away();
	stub.refuse_prepare = 0x30;
	assert_int_equal(start(0x20, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(config_error(8, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu_scountovf(&vpmu), 1UL << 18);
	assert_true(guest_read_is_illegal(5));
	assert_true(vpmu_wfi_must_trap(&vpmu));
	/* 18 still holds the cycles when 3 is gone. */
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config_error(HW, SINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(18), 1);
}

int test_vpmu_choice(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_home_is_direct, stub_setup),
	    cmocka_unit_test_setup(test_mask_without_home, stub_setup),
	    cmocka_unit_test_setup(test_second_of_the_same_event_shares, stub_setup),
	    cmocka_unit_test_setup(test_sharing_comes_before_a_free_hctr, stub_setup),
	    cmocka_unit_test_setup(test_free_platform, stub_setup),
	    cmocka_unit_test_setup(test_second_filter_refused, stub_setup),
	    cmocka_unit_test_setup(test_raw_events_take_turns, stub_setup),
	    cmocka_unit_test_setup(test_not_granted, stub_setup),
	    cmocka_unit_test_setup(test_running_never_chosen, stub_setup),
	    cmocka_unit_test_setup(test_stopped_chosen_last, stub_setup),
	    cmocka_unit_test_setup(test_drop_makes_room, stub_setup),
	    cmocka_unit_test_setup(test_classes_do_not_mix, stub_setup),
	    cmocka_unit_test_setup(test_prepare_refused, stub_setup),
	    cmocka_unit_test_setup(test_take_over_refused, stub_setup),
	    cmocka_unit_test_setup(test_take_over_refused_beside_others, stub_setup),
	    cmocka_unit_test_setup(test_auto_start_refused, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: choice", tests, NULL, NULL);
}
