/* SPDX-License-Identifier: Apache-2.0 */
/* Observers (vpmu/observe.h): what they count, what they are refused, and what ends them. */
#include <string.h>

#include "tests/host/vpmu_stub.h"
#include "vpmu/observe.h"
#include "vpmu/show.h"

#define A (1UL << 3)
#define B (1UL << 18)

static enum vpmu_observe observe(uint32_t n, unsigned long event_idx, uint64_t data,
                                 unsigned long flags)
{
	return vpmu_observe(&vpmu, true, n, (uint32_t)event_idx, data, flags, 0);
}

static void unobserve(uint32_t n)
{
	vpmu_unobserve(&vpmu, true, n);
}

static uint64_t observed(uint32_t n)
{
	struct vpmu_view view;
	uint64_t value;
	bool shared;

	assert_true(vpmu_describe(&vpmu, VPMU_OBSERVER(n), true, &view));
	assert_int_equal(view.state, VPMU_RUNNING);
	assert_int_equal(view.holds, VPMU_VALUE_NOW);
	assert_false(view.direct);
	assert_true(vpmu_observer_read(&vpmu, n, &value, &shared));
	assert_int_equal(value, view.value);
	assert_int_equal(shared, view.shared);
	return value;
}

static bool is_off(uint32_t n)
{
	struct vpmu_view view;

	return !vpmu_describe(&vpmu, VPMU_OBSERVER(n), true, &view);
}

static void test_alone(void **state)
{
	(void)state;
	assert_int_equal(observe(7, INSTRS, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observed(7), 0);
	stub_count(INSTRS, 10);
	stub_count_vu(INSTRS, 5);
	assert_int_equal(observed(7), 15);
	/* Its index is not one of the guest's, and cannot be read directly. */
	assert_int_equal(vpmu_configured(&vpmu), 0);
	assert_true(guest_read_is_illegal(4));
	assert_int_equal(vpmu_counter_stop(&vpmu, VPMU_OBSERVER(7), 1, RESET).error,
	                 SBI_ERR_INVALID_PARAM);
	assert_int_equal(vpmu_counter_get_info(&vpmu, VPMU_OBSERVER(7)).error,
	                 SBI_ERR_INVALID_PARAM);
	unobserve(7);
	assert_true(is_off(7));
	assert_false(stub.hctr[4].running);
	unobserve(7);
}

/* The guest's counter is started, stopped and reset. The observer counts on, and the guest sees its
 * own values. */
static void test_shared_with_the_guest(void **state)
{
	(void)state;
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	stub_count(CYCLES, 7);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	stub_count(CYCLES, 7);
	assert_int_equal(start(A, INIT, 1000), 0);
	stub_count(CYCLES, 7);
	assert_int_equal(guest_read(3), 1007);
	assert_true(guest_reads_direct(3));
	assert_int_equal(stop(A, 0), 0);
	stub_count(CYCLES, 7);
	assert_int_equal(guest_read(3), 1007);
	assert_int_equal(observed(0), 28);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	stub_count(CYCLES, 2);
	assert_int_equal(observed(0), 30);
	assert_true(guest_read_is_illegal(3));
}

static void test_joins_the_guest(void **state)
{
	struct vpmu_view view;

	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 7);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observe(1, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	stub_count(CYCLES, 3);
	assert_true(vpmu_describe(&vpmu, VPMU_OBSERVER(0), true, &view) && view.shared);
	unobserve(1);
	stub_count(CYCLES, 3);
	assert_int_equal(guest_read(3), 13);
	assert_true(guest_reads_direct(3));
	assert_int_equal(observed(0), 6);
	unobserve(0);
	stub_count(CYCLES, 3);
	assert_int_equal(guest_read(3), 16);
	assert_true(guest_reads_direct(3));
}

/* Overflows of the guest are reported as usual, and an observer never causes one. */
static void test_overflows(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.width = 12;
	stub_setup_policy(&policy);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -10UL), 0);
	stub_run(CYCLES, 10);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(stop(A, RESET), 0);
	stub_run(CYCLES, 1UL << 12);
	assert_int_equal(stub.lcofis, 1);
	/* Modulo the width of the hart's counters. */
	assert_int_equal(observed(0), 10);
}

static void test_world_switch(void **state)
{
	(void)state;
	assert_int_equal(observe(0, CYCLES, 0, SINH), VPMU_OBSERVE_OK);
	stub_count_vu(CYCLES, 7);
	vpmu_save(&vpmu);
	/* It is another vcpu's counter now, and still its value is known. */
	vpmu_evict(&vpmu, (hctr_t){3});
	stub_neighbour();
	assert_int_equal(observed(0), 7);
	assert_int_equal(vpmu_observe(&vpmu, false, 1, INSTRS, 0, 0, 0), VPMU_OBSERVE_OK);
	vpmu_restore(&vpmu);
	stub_count_vu(CYCLES, 3);
	stub_count(CYCLES, 3);
	stub_count(INSTRS, 3);
	assert_int_equal(observed(0), 10);
	assert_int_equal(observed(1), 3);
}

static void test_filters(void **state)
{
	(void)state;
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_GUEST_USES);
	assert_true(is_off(0));
	assert_int_equal(observe(0, CYCLES, 0, SINH), VPMU_OBSERVE_OK);
	assert_int_equal(observe(1, INSTRS, 0, UINH), VPMU_OBSERVE_OK);
	assert_int_equal(observe(2, INSTRS, 0, 0), VPMU_OBSERVE_OTHER_USES);
	assert_true(is_off(2));
	assert_int_equal(observe(2, INSTRS, 0, UINH), VPMU_OBSERVE_OK);
	assert_int_equal(observe(3, 99, 0, 0), VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(observe(3, FW(5), 0, 0), VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(observe(3, 0x100001, 0, 0), VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(observe(3, CYCLES, 1, 0), VPMU_OBSERVE_NO_EVENT);
}

/* The guest needs the counter for another event, and gets it as if there were no observer. */
static void test_the_guest_wins(void **state)
{
	struct vpmu_view view;

	(void)state;
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observe(1, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observe(2, INSTRS, 0, 0), VPMU_OBSERVE_OK);
	/* Not with its guest. */
	assert_true(vpmu_describe(&vpmu, VPMU_OBSERVER(0), true, &view) && !view.shared);
	stub_count(CYCLES, 7);
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(stub.unobserved, 3);
	assert_int_equal(stub.unobserved_value, 7);
	assert_true(is_off(0));
	assert_true(is_off(1));
	assert_int_equal(start(A, INIT, 0), 0);
	stub_count(CYCLES, 5);
	stub_count_vu(CYCLES, 2);
	stub_count(INSTRS, 2);
	assert_int_equal(guest_read(3), 2);
	assert_true(guest_reads_direct(3));
	assert_int_equal(observed(2), 2);
	/* It can be observed again when the guest does not need the counter any more. */
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_GUEST_USES);
	assert_int_equal(stop(A, RESET), 0);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
}

/* A counter that the guest has stopped is configured for another event: the observer is not in the
 * way. */
static void test_the_guest_changes_its_mind(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	stub_count(CYCLES, 4);
	assert_int_equal(config(A, SKIP, INSTRS), 3);
	assert_int_equal(stub.unobserved, 0);
	assert_int_equal(config(A, SKIP, CYCLES), 3);
	assert_int_equal(config(A, SKIP | UINH, CYCLES), 3);
	assert_int_equal(stub.unobserved, 1);
	assert_int_equal(stub.unobserved_value, 4);
}

/* Observers may count what the VM tree denies the guest. */
static void test_policy(void **state)
{
	static const uint32_t none[] = {0};
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.hctrs = 0;
	policy.events = none;
	policy.trap_reads = true;
	stub_setup_policy(&policy);
	assert_int_equal(config_error(1UL << 19, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observe(1, RAW, RAW_INSTRS, 0), VPMU_OBSERVE_OK);
	stub_count(CYCLES, 4);
	stub_emulate(false);
	assert_int_equal(observed(0), 5);
	assert_int_equal(observed(1), 1);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	unobserve(0);
	unobserve(1);
	assert_false(vpmu_wfi_must_trap(&vpmu));
}

/* Instructions that WFI makes wrong are refused under all names, to the guest as well. */
static void test_spoilt_by_idle_time(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.wfi_recounts = true;
	policy.idle_cycles = true;
	stub_setup_policy(&policy);
	assert_int_equal(observe(0, INSTRS, 0, 0), VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(observe(0, RAW, RAW_INSTRS, 0), VPMU_OBSERVE_NO_EVENT);
	assert_int_equal(config_error(HW, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, RAW_INSTRS).error,
	                 SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
}

static void test_ends_with_the_vcpu(void **state)
{
	(void)state;
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	vpmu_reset(&vpmu);
	assert_true(is_off(0));
	assert_false(stub.hctr[3].running);
}

static void test_lost(void **state)
{
	struct vpmu_view view;

	(void)state;
	stub.fail_start = A;
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	stub_settle();
	assert_true(vpmu_describe(&vpmu, VPMU_OBSERVER(0), true, &view));
	assert_int_equal(view.state, VPMU_LOST);
	stub.fail_start = 0;
	unobserve(0);
	assert_int_equal(observe(0, CYCLES, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(observed(0), 0);
}

int test_vpmu_observe(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_alone, stub_setup),
	    cmocka_unit_test_setup(test_shared_with_the_guest, stub_setup),
	    cmocka_unit_test_setup(test_joins_the_guest, stub_setup),
	    cmocka_unit_test_setup(test_overflows, stub_setup),
	    cmocka_unit_test_setup(test_world_switch, stub_setup),
	    cmocka_unit_test_setup(test_filters, stub_setup),
	    cmocka_unit_test_setup(test_the_guest_wins, stub_setup),
	    cmocka_unit_test_setup(test_the_guest_changes_its_mind, stub_setup),
	    cmocka_unit_test_setup(test_policy, stub_setup),
	    cmocka_unit_test_setup(test_spoilt_by_idle_time, stub_setup),
	    cmocka_unit_test_setup(test_ends_with_the_vcpu, stub_setup),
	    cmocka_unit_test_setup(test_lost, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: observers", tests, NULL, NULL);
}
