/* SPDX-License-Identifier: Apache-2.0 */
/* Observers that sample (vpmu/observe.h): each period is told once, and the guest hears nothing. */
#include "tests/host/vpmu_stub.h"
#include "vpmu/observe.h"
#include "vpmu/show.h"

#define A (1UL << 4)

static enum vpmu_observe sample(uint32_t n, unsigned long event_idx, unsigned long flags,
                                uint64_t period)
{
	return vpmu_observe(&vpmu, true, n, (uint32_t)event_idx, 0, flags, period);
}

/* What it has counted so far. */
static uint64_t observed(uint32_t n)
{
	struct vpmu_view view;
	uint64_t value;
	bool shared;

	assert_true(vpmu_observer_read(&vpmu, n, &value, &shared));
	assert_true(vpmu_describe(&vpmu, VPMU_OBSERVER(n), true, &view));
	assert_int_equal(view.value, value);
	assert_false(view.overflow);
	return value;
}

static void nothing_for_the_guest(void)
{
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(vpmu_configured(&vpmu), 0);
}

static void test_each_period(void **state)
{
	(void)state;
	assert_int_equal(sample(3, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 99);
	assert_int_equal(stub.samples[3], 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.samples[3], 1);
	assert_int_equal(stub.sampled_period, 100);
	stub_run(INSTRS, 100 * 56 + 99);
	assert_int_equal(stub.samples[3], 57);
	assert_int_equal(stub.missed, 0);
	assert_int_equal(observed(3), 5799);
	nothing_for_the_guest();
	vpmu_unobserve(&vpmu, true, 3);
	stub_run(INSTRS, 300);
	assert_int_equal(stub.samples[3], 57);
	assert_false(stub.hctr[4].running);
}

/* The hart interrupts late: what went on beyond the period is of the next one. */
static void test_late(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_count(INSTRS, 130);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.samples[0], 1);
	assert_int_equal(stub.missed, 0);
	stub_count(INSTRS, 69);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.samples[0], 1);
	stub_count(INSTRS, 1);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.samples[0], 2);
	/* 200 are over, and these are three periods at once. */
	stub_count(INSTRS, 350);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.samples[0], 3);
	assert_int_equal(stub.missed, 2);
	assert_int_equal(observed(0), 550);
	stub_run(INSTRS, 50);
	assert_int_equal(stub.samples[0], 4);
	assert_int_equal(stub.missed, 2);
}

/* The port says how long the next period is. One that would be over already is not begun. */
static void test_other_periods(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub.next_period = 7;
	stub_run(INSTRS, 100);
	stub.next_period = 1000;
	stub_run(INSTRS, 6);
	assert_int_equal(stub.samples[0], 1);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.samples[0], 2);
	assert_int_equal(stub.sampled_period, 7);
	stub.next_period = 20;
	stub_count(INSTRS, 1020);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.samples[0], 3);
	assert_int_equal(stub.sampled_period, 1000);
	assert_int_equal(observed(0), 1127);
	stub_run(INSTRS, 979);
	assert_int_equal(stub.samples[0], 3);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.samples[0], 4);
	assert_int_equal(stub.sampled_period, 1000);
}

/* An instruction that Tally emulates may be the last one of a period. */
static void test_emulated(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	for (uint32_t steps = 0; steps < 2; steps++) {
		policy.steps = policy.cheap_moves = steps != 0;
		stub_setup_policy(&policy);
		assert_int_equal(sample(0, INSTRS, 0, 10), VPMU_OBSERVE_OK);
		for (uint32_t i = 0; i < 9; i++)
			stub_emulate(false);
		assert_int_equal(stub.samples[0], 0);
		stub_emulate(true);
		assert_int_equal(stub.samples[0], 1);
		assert_int_equal(observed(0), 10);
		stub_run(INSTRS, 9);
		assert_int_equal(stub.samples[0], 1);
		stub_emulate(false);
		assert_int_equal(stub.samples[0], 2);
		assert_int_equal(stub.missed, 0);
		assert_int_equal(observed(0), 20);
	}
}

/* The guest counts and samples the same on the same counter. */
static void test_beside_the_guest(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 50);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A, INIT, -70UL), 0);
	stub_run(INSTRS, 69);
	assert_int_equal(stub.samples[0], 1);
	assert_int_equal(stub.lcofis, 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stop(A, RESET), 0);
	/* Both at once. */
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A, INIT, -80UL), 0);
	stub_run(INSTRS, 80);
	assert_int_equal(stub.samples[0], 2);
	assert_int_equal(stub.lcofis, 2);
	stub_run(INSTRS, 100);
	assert_int_equal(stub.samples[0], 3);
	assert_int_equal(guest_read(4), 100);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(observed(0), 300);
}

static void test_two_of_one_event(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 30), VPMU_OBSERVE_OK);
	assert_int_equal(sample(1, INSTRS, 0, 50), VPMU_OBSERVE_OK);
	assert_int_equal(sample(2, INSTRS, 0, 0), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 1501);
	assert_int_equal(stub.samples[0], 50);
	assert_int_equal(stub.samples[1], 30);
	assert_int_equal(stub.samples[2], 0);
	assert_int_equal(observed(2), 1501);
	vpmu_unobserve(&vpmu, true, 0);
	stub_run(INSTRS, 49);
	assert_int_equal(stub.samples[1], 31);
	assert_int_equal(stub.samples[0], 50);
	nothing_for_the_guest();
}

/* Before a switch, over one in which another vcpu takes the counter, and at one. */
static void test_world_switch(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 60);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_evict(&vpmu, (hctr_t){4});
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 39);
	assert_int_equal(stub.samples[0], 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.samples[0], 1);
	/* The interrupt has not come yet when it leaves. */
	stub_count(INSTRS, 110);
	vpmu_save(&vpmu);
	assert_int_equal(stub.samples[0], 2);
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 89);
	assert_int_equal(stub.samples[0], 2);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.samples[0], 3);
	vpmu_save(&vpmu);
	/* It begins for a vcpu that is away. */
	assert_int_equal(vpmu_observe(&vpmu, false, 1, (uint32_t)INSTRS, 0, 0, 10),
	                 VPMU_OBSERVE_OK);
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 10);
	assert_int_equal(stub.samples[1], 1);
	assert_int_equal(stub.missed, 0);
	nothing_for_the_guest();
}

/* The guest wins, and what was counted until then is told. */
static void test_the_guest_wins(void **state)
{
	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 250);
	assert_int_equal(config(HW, SINH, INSTRS), 4);
	assert_int_equal(stub.unobserved, 1);
	assert_int_equal(stub.unobserved_value, 250);
	assert_int_equal(start(A, INIT, 0), 0);
	stub_run(INSTRS, 1000);
	assert_int_equal(stub.samples[0], 2);
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_GUEST_USES);
}

/* A guest that is offered no overflow is sampled as any other. */
static void test_without_the_guests_help(void **state)
{
	static const uint32_t none[] = {0};
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.hctrs = 0;
	policy.events = none;
	policy.overflow = false;
	stub_setup_policy(&policy);
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 1000);
	assert_int_equal(stub.samples[0], 10);
	nothing_for_the_guest();
}

static void test_silent(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(sample(0, DTLB, 0, 100), VPMU_OBSERVE_SILENT);
	assert_int_equal(sample(0, DTLB, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(sample(1, INSTRS, 0, 100), VPMU_OBSERVE_OK);
}

static void test_lost(void **state)
{
	uint64_t value;
	bool shared;

	(void)state;
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub.fail_start = A;
	stub_run(INSTRS, 100);
	stub_settle();
	assert_int_equal(stub.samples[0], 1);
	assert_false(vpmu_observer_read(&vpmu, 0, &value, &shared));
	stub.fail_start = 0;
	vpmu_unobserve(&vpmu, true, 0);
	assert_int_equal(sample(0, INSTRS, 0, 100), VPMU_OBSERVE_OK);
	stub_run(INSTRS, 100);
	assert_int_equal(stub.samples[0], 2);
}

int test_vpmu_sample(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_each_period, stub_setup),
	    cmocka_unit_test_setup(test_late, stub_setup),
	    cmocka_unit_test_setup(test_other_periods, stub_setup),
	    cmocka_unit_test_setup(test_emulated, stub_setup),
	    cmocka_unit_test_setup(test_beside_the_guest, stub_setup),
	    cmocka_unit_test_setup(test_two_of_one_event, stub_setup),
	    cmocka_unit_test_setup(test_world_switch, stub_setup),
	    cmocka_unit_test_setup(test_the_guest_wins, stub_setup),
	    cmocka_unit_test_setup(test_without_the_guests_help, stub_setup),
	    cmocka_unit_test_setup(test_silent, stub_setup),
	    cmocka_unit_test_setup(test_lost, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: observers that sample", tests, NULL, NULL);
}
