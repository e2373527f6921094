/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-freeze "vcpu": counters that count HS as well, and so advance while vpmu/ works on them. The
 * stub advances them in each call of the port. Values need not be exact, but no wrap may be lost or
 * reported twice, and the rules of port.h apply.
 */
#include "tests/host/vpmu_stub.h"

static int setup_hs(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.count_hs = true;
	stub_setup_policy(&policy);
	stub.hs_step = 1;
	return 0;
}

/* Like an entry to the guest: a pending LCOFI is taken first. */
static void enter(void)
{
	uint32_t i;

	/* Serving one may take so long that the next one comes. */
	for (i = 0; i < 10 && stub.pending; i++)
		vpmu_overflow(&vpmu);
	assert_false(stub.pending);
}

static uint64_t value_of(uint32_t idx)
{
	uint64_t value = 0;

	assert_true(vpmu_csr_read(&vpmu, 0xc00 + idx, &value));
	return value;
}

static void test_filter(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_COUNT_HS);
	assert_int_equal(stop(8, RESET), SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO | UINH, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_COUNT_HS | HW_INH_VU);
	assert_int_equal(stop(8, RESET), SBI_SUCCESS);
	/* Where VS does not count, HS does not either. */
	assert_int_equal(config(HW, AUTO | SINH, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_INH_VS);
	assert_int_equal(stop(8, RESET), SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO | SINH | UINH, CYCLES), 3);
	assert_int_equal(stub.hctr[3].config.inhibit, HW_INH_VS | HW_INH_VU);
	/* The same event with the same filter is still shared. */
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, AUTO, INSTRS), 18);
}

/* A stopped counter keeps the value of the stop, whatever the hardware counts afterwards. */
static void test_stopped_stands(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_true(guest_reads_direct(3));
	stub_count(CYCLES, 100);
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	assert_false(guest_reads_direct(3));
	value = value_of(3);
	assert_in_range(value, 100, 110);
	assert_int_equal(value_of(3), value);
	assert_int_equal(start(8, 0, 0), SBI_SUCCESS);
	assert_in_range(value_of(3), value, value + 10);
}

static void test_values_go_up(void **state)
{
	uint64_t last = 0;
	uint32_t i;

	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, CYCLES), 18);
	for (i = 0; i < 20; i++) {
		uint64_t value;

		if (i % 3 == 0) {
			vpmu_save(&vpmu);
			stub_neighbour();
			vpmu_restore(&vpmu);
		}
		stub_emulate(false);
		value = value_of(18);
		assert_true(value > last);
		last = value;
	}
	assert_in_range(last, 20, 400);
}

/*
 * Starts so near to the wrap that it happens somewhere in the calls of the port, at each possible
 * place. It must be reported exactly once, and never during a start (the stub checks).
 */
static void one_wrap(uint64_t left, uint64_t step, uint32_t switches)
{
	void *state = NULL;
	uint32_t i;

	setup_hs(&state);
	stub.hs_step = step;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, 5), SBI_SUCCESS);
	assert_int_equal(start(8, INIT, 0 - left), SBI_SUCCESS);
	enter();
	while (switches-- != 0) {
		vpmu_save(&vpmu);
		assert_false(stub.pending);
		stub_neighbour();
		vpmu_restore(&vpmu);
		enter();
	}
	stub_emulate(false);
	enter();
	for (i = 0; i < 100 && stub.lcofis == 0; i++) {
		stub_count(CYCLES, 1);
		enter();
	}
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	assert_in_range(value_of(3), 0, 1000);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	enter();
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	assert_int_equal(stub.lcofis, 1);
	assert_false(stub.pending);
}

static void test_one_wrap(void **state)
{
	uint64_t left;

	(void)state;
	for (left = 1; left < 60; left++) {
		one_wrap(left, 1, 0);
		one_wrap(left, 1, 1);
		one_wrap(left, 3, 2);
	}
}

/* Three sharers a few counts apart: the wraps may happen in any of the moves. */
static void sharers(uint64_t first, uint64_t gap, uint64_t step)
{
	void *state = NULL;
	uint32_t i;

	setup_hs(&state);
	stub.hs_step = step;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, CYCLES), 17);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(8, INIT, 0 - first - 2 * gap), SBI_SUCCESS);
	enter();
	assert_int_equal(start(1UL << 18, INIT, 0 - first - gap), SBI_SUCCESS);
	enter();
	assert_int_equal(start(1UL << 17 | 0x10, INIT, 0 - first), SBI_SUCCESS);
	enter();
	for (i = 0; i < 100 && vpmu_scountovf(&vpmu) != 0x60018; i++) {
		stub_count(CYCLES, 1);
		stub_count(INSTRS, 1);
		enter();
	}
	assert_int_equal(vpmu_scountovf(&vpmu), 0x60018);
	assert_in_range(stub.lcofis, 1, 4);
	stub.lcofis = 0;
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	enter();
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(stop(0x60008, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x60018);
}

static void test_sharers(void **state)
{
	uint64_t first;
	uint64_t gap;

	(void)state;
	for (first = 1; first < 30; first++)
		for (gap = 0; gap < 12; gap++)
			sharers(first, gap, 1 + gap % 3);
}

/* A pending LCOFI belongs to nobody when the vcpu is gone. */
static void test_nothing_left_behind(void **state)
{
	uint64_t left;

	(void)state;
	for (left = 1; left < 12; left++) {
		setup_hs(state);
		assert_int_equal(config(HW, 0, CYCLES), 3);
		assert_int_equal(start(8, INIT, 0 - left), SBI_SUCCESS);
		enter();
		vpmu_reset(&vpmu);
		assert_false(stub.pending);
		stub_neighbour();
	}
}

int test_vpmu_count_hs(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_filter, setup_hs),
	    cmocka_unit_test_setup(test_stopped_stands, setup_hs),
	    cmocka_unit_test_setup(test_values_go_up, setup_hs),
	    cmocka_unit_test_setup(test_one_wrap, setup_hs),
	    cmocka_unit_test_setup(test_sharers, setup_hs),
	    cmocka_unit_test_setup(test_nothing_left_behind, setup_hs),
	};

	return cmocka_run_group_tests_name("vpmu: counting HS", tests, NULL, NULL);
}
