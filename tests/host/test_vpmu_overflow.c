/* SPDX-License-Identifier: Apache-2.0 */
/* Overflow: which counter is armed, OF, and one virtual LCOFI each; none is lost, none comes
 * twice. */
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

static void test_armed_when_near(void **state)
{
	static const struct {
		uint64_t value;
		bool armed;
	} cases[] = {
	    {0, false},
	    {1, false},
	    {0x4000000000000000, false},
	    {0x8000000000000001, false}, /* what Linux starts every counting event at */
	    {0xbfffffffffffffff, false},
	    {0xc000000000000000, true}, /* 2^62 to go */
	    {0xffff000000000000, true},
	    {UINT64_MAX, true},
	};
	unsigned long i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(start(A, INIT, cases[i].value), 0);
		assert_int_equal(stub.hctr[3].armed, cases[i].armed);
		assert_int_equal(stop(A, 0), 0);
	}
}

static void test_armed_when_narrow(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.width = 62;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	/* 2^62 to go, from zero. */
	assert_int_equal(start(A, INIT, 0), 0);
	assert_true(stub.hctr[3].armed);
	policy.width = 63;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 0), 0);
	assert_false(stub.hctr[3].armed);
}

static void test_no_overflow_for_this_vm(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.overflow = false;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -2UL), 0);
	assert_false(stub.hctr[3].armed);
	stub_run(CYCLES, 5);
	vpmu_overflow(&vpmu);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.lcofis, 0);
}

static void test_plain_overflow(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -10UL), 0);
	stub_run(CYCLES, 9);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	stub_run(CYCLES, 1);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	/* It runs on beyond zero, and is read directly. */
	stub_run(CYCLES, 25);
	assert_int_equal(guest_read(3), 25);
	assert_true(guest_reads_direct(3));
	assert_int_equal(stub.starts, 1);
	/* An LCOFI without a cause has no effect. */
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	/* A stop and a start arm it again. */
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(start(A, INIT, -3UL), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	stub_run(CYCLES, 3);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
}

static void test_two_counters_at_once(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A | 0x10, INIT, -10UL), 0);
	stub_count(CYCLES, 10);
	stub_count(INSTRS, 10);
	vpmu_overflow(&vpmu);
	assert_int_equal(vpmu_scountovf(&vpmu), A | 0x10);
	assert_int_equal(stub.lcofis, 1);
}

static void test_sharers_each_at_their_period(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -30UL), 0);
	assert_int_equal(start(B, INIT, -10UL), 0);
	assert_int_equal(start(C, INIT, -20UL), 0);
	stub_run(CYCLES, 9);
	assert_int_equal(stub.lcofis, 0);
	stub_run(CYCLES, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), B);
	assert_int_equal(stub.lcofis, 1);
	stub_run(CYCLES, 9);
	assert_int_equal(stub.lcofis, 1);
	stub_run(CYCLES, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), B | C);
	assert_int_equal(stub.lcofis, 2);
	/* The one that has overflowed starts again, further from its wrap than A. */
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(start(B, INIT, -15UL), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), C);
	stub_run(CYCLES, 9);
	assert_int_equal(stub.lcofis, 2);
	stub_run(CYCLES, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A | C);
	assert_int_equal(stub.lcofis, 3);
	stub_run(CYCLES, 5);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B | C);
	assert_int_equal(stub.lcofis, 4);
	assert_int_equal(guest_read(3), 5);
	assert_int_equal(guest_read(18), 0);
	assert_int_equal(guest_read(17), 15);
	/* Nothing is left to report, so the home counter has its hardware counter again. */
	assert_true(guest_reads_direct(3));
	stub_run(CYCLES, 100);
	assert_int_equal(stub.lcofis, 4);
}

static void test_sharers_wrap_together(void **state)
{
	(void)state;
	assert_int_equal(start(A | B, INIT, -10UL), 0);
	stub_run(CYCLES, 5);
	/* Another way to the same state. */
	assert_int_equal(start(C, INIT, -5UL), 0);
	stub_run(CYCLES, 5);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B | C);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(17), 0);
}

/* The anchor is stopped, so the next to wrap is armed. */
static void test_next_nearest_is_armed(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -30UL), 0);
	assert_int_equal(start(B, INIT, -10UL), 0);
	stub_run(CYCLES, 5);
	assert_int_equal(stop(B, RESET), 0);
	stub_run(CYCLES, 24);
	assert_int_equal(stub.lcofis, 0);
	stub_run(CYCLES, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(stub.lcofis, 1);
}

/* What is stopped does not wrap, whatever its value was about to do. */
static void test_stopped_does_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -10UL), 0);
	assert_int_equal(start(B, INIT, 5), 0);
	stub_run(CYCLES, 5);
	assert_int_equal(stop(A, 0), 0);
	stub_run(CYCLES, 20);
	assert_int_equal(stop(B, 0), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(guest_read(3), -5UL);
	assert_int_equal(guest_read(18), 30);
}

static void test_cleared_counter_is_disarmed(void **state)
{
	(void)state;
	assert_int_equal(start(A, INIT, -10UL), 0);
	assert_int_equal(config(A, SKIP | CLEAR, CYCLES), 3);
	assert_false(stub.hctr[3].armed);
	stub_run(CYCLES, 20);
	assert_int_equal(guest_read(3), 20);
	assert_int_equal(stub.lcofis, 0);
}

/* Zero is far from the wrap of a counter of 63 bits, near that of one of 62. */
static void test_cleared_narrow_counter(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	for (policy.width = 62; policy.width <= 63; policy.width++) {
		stub_setup_policy(&policy);
		assert_int_equal(config(HW, 0, CYCLES), 3);
		assert_int_equal(start(A, INIT, -10UL), 0);
		assert_int_equal(config(A, SKIP | CLEAR, CYCLES), 3);
		assert_int_equal(stub.hctr[3].armed, policy.width == 62);
		assert_int_equal(stub.hctr[3].value, 0);
	}
}

/* The kind of event does not matter here: a port knows what its hardware cannot arm. */
static void test_every_event_is_armed(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(start(0x20, INIT, -5UL), 0);
	assert_true(stub.hctr[5].armed);
	/* AUTO_START starts from the kept value, and arms if that is near the wrap. */
	assert_int_equal(stop(0x20, 0), 0);
	assert_int_equal(config(0x20, AUTO, DTLB), 5);
	assert_true(stub.hctr[5].armed);
	stub_run(DTLB, 5);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x20);
}

int test_vpmu_overflow(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_armed_when_near, setup),
	    cmocka_unit_test_setup(test_armed_when_narrow, setup),
	    cmocka_unit_test_setup(test_no_overflow_for_this_vm, setup),
	    cmocka_unit_test_setup(test_plain_overflow, setup),
	    cmocka_unit_test_setup(test_two_counters_at_once, setup),
	    cmocka_unit_test_setup(test_sharers_each_at_their_period, setup),
	    cmocka_unit_test_setup(test_sharers_wrap_together, setup),
	    cmocka_unit_test_setup(test_next_nearest_is_armed, setup),
	    cmocka_unit_test_setup(test_stopped_does_not_wrap, setup),
	    cmocka_unit_test_setup(test_cleared_narrow_counter, setup),
	    cmocka_unit_test_setup(test_cleared_counter_is_disarmed, setup),
	    cmocka_unit_test_setup(test_every_event_is_armed, setup),
	};

	return cmocka_run_group_tests_name("vpmu: overflow", tests, NULL, NULL);
}
