/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets (vpmu/budget.h): what is left of them, when it is told, and what they leave to guests. */
#include "tests/host/vpmu_stub.h"
#include "vpmu/budget.h"
#include "vpmu/observe.h"
#include "vpmu/show.h"

#define A      (1UL << 4)
#define FIXED  (1UL << 2)
#define BUDGET 1000

static void begin(const struct vpmu_policy *base, uint32_t event_idx, uint8_t hctr)
{
	struct vpmu_policy policy = *base;

	policy.budget_event = event_idx;
	policy.budget_hctr = hctr;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_budget_set(&vpmu, true, BUDGET), 0);
}

static int setup(void **state)
{
	(void)state;
	begin(&stub_policy, INSTRS, 4);
	return 0;
}

/* Renews the budget, and returns what was left. */
static int64_t left(void)
{
	int64_t before = vpmu_budget_set(&vpmu, true, BUDGET);

	assert_int_equal(vpmu_budget_set(&vpmu, true, before), BUDGET);
	return before;
}

static void test_told_once(void **state)
{
	(void)state;
	stub_run(INSTRS, BUDGET - 1);
	assert_int_equal(left(), 1);
	assert_int_equal(stub.budgets_spent, 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.budgets_spent, 1);
	assert_int_equal(left(), 0);
	stub_run(INSTRS, 50);
	assert_int_equal(left(), -50);
	assert_int_equal(stub.budgets_spent, 1);
	/* The guest does not hear of it. */
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_int_equal(vpmu_configured(&vpmu), 0);
	assert_true(guest_read_is_illegal(4));
	/* What counts in VU counts as well. */
	assert_int_equal(vpmu_budget_set(&vpmu, true, 10), -50);
	stub_count_vu(INSTRS, 10);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.budgets_spent, 2);
}

/* The guest counts the same on the same counter, and samples before the budget and after it. */
static void test_shared_with_the_guest(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A, INIT, 70), 0);
	stub_run(INSTRS, 100);
	assert_int_equal(guest_read(4), 170);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(start(A, INIT, -300UL), 0);
	stub_run(INSTRS, 299);
	assert_int_equal(stub.lcofis, 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	assert_int_equal(stub.budgets_spent, 0);
	stub_run(INSTRS, BUDGET - 401);
	assert_int_equal(stub.budgets_spent, 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.budgets_spent, 1);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	/* Both at the same instruction. */
	assert_int_equal(vpmu_budget_set(&vpmu, true, 20), 0);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(start(A, INIT, -20UL), 0);
	stub_run(INSTRS, 20);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(stub.budgets_spent, 2);
}

/* With another filter, the event is counted by the fixed counter if there is one. */
static void test_another_filter(void **state)
{
	(void)state;
	assert_int_equal(config_error(HW, UINH, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, SINH, INSTRS), SBI_ERR_NOT_SUPPORTED);
	begin(&stub_policy, INSTRS, 4);
	stub.filters = true;
	assert_int_equal(config(HW, UINH | AUTO, INSTRS), 2);
	assert_int_equal(config_error(HW, SINH, INSTRS), SBI_ERR_NOT_SUPPORTED);
	stub_run(INSTRS, 30);
	stub_count_vu(INSTRS, 5);
	assert_int_equal(left(), BUDGET - 35);
	assert_int_equal(guest_read(2), 30);
}

/* Nothing that the guest does to its counters changes the budget, but the instructions that it
 * takes. */
static void test_calls(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	stub_run(INSTRS, 10);
	assert_int_equal(stop(A, RESET), 0);
	stub_run(INSTRS, 10);
	assert_int_equal(config(HW, CLEAR, INSTRS), 4);
	assert_int_equal(start(A, INIT, 0), 0);
	assert_int_equal(config(A, SKIP | CLEAR, INSTRS), 4);
	stub_run(INSTRS, 10);
	assert_int_equal(stop(A, 0), 0);
	stub_run(INSTRS, 10);
	assert_int_equal(left(), BUDGET - 40);
	/* No call names its counter. */
	assert_int_equal(vpmu_counter_stop(&vpmu, VPMU_BUDGET, 1, RESET).error,
	                 SBI_ERR_INVALID_PARAM);
	assert_int_equal(vpmu_counter_start(&vpmu, VPMU_BUDGET, 1, INIT, 0).error,
	                 SBI_ERR_INVALID_PARAM);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, VPMU_BUDGET, 1, SKIP, INSTRS, 0).error,
	                 SBI_ERR_INVALID_PARAM);
	stub_emulate(false);
	stub_emulate(true);
	assert_int_equal(left(), BUDGET - 42);
}

/* An end of the vcpu or its VM stops the counter, and what was left is left. */
static void test_resets(void **state)
{
	(void)state;
	stub_run(INSTRS, 100);
	vpmu_reset(&vpmu);
	assert_false(stub.hctr[4].running);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 100);
	assert_int_equal(left(), BUDGET - 200);
	vpmu_save(&vpmu);
	vpmu_clear(&vpmu);
	vpmu_restore(&vpmu);
	assert_int_equal(left(), BUDGET - 200);
	/* One that is spent while its interrupt pends is told as such. */
	stub_count(INSTRS, BUDGET - 195);
	assert_int_equal(stub.budgets_spent, 0);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.budgets_spent, 1);
	vpmu_save(&vpmu);
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 1);
	assert_int_equal(left(), -6);
	assert_int_equal(stub.budgets_spent, 1);
}

/* It is renewed while the vcpu is away, and told when it leaves. */
static void test_away(void **state)
{
	(void)state;
	stub_count(INSTRS, BUDGET + 3);
	vpmu_save(&vpmu);
	assert_int_equal(stub.budgets_spent, 1);
	assert_int_equal(vpmu_budget_left(&vpmu), -3);
	stub_neighbour();
	assert_int_equal(vpmu_budget_set(&vpmu, false, 5), -3);
	vpmu_restore(&vpmu);
	stub_run(INSTRS, 4);
	assert_int_equal(stub.budgets_spent, 1);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.budgets_spent, 2);
}

/* The counter counts nothing else, from the first question on. */
static void test_what_the_guest_lacks(void **state)
{
	const uint64_t there = 1, only_there = 2;
	uint64_t again = 0;

	(void)state;
	stub.raw_hctrs[there] = A | 1UL << 9;
	stub.raw_hctrs[only_there] = A;
	poke32(RAM_BASE, INSTRS);
	poke64(RAM_BASE + 8, 0);
	for (uint64_t data = there; data <= only_there; data++) {
		poke32(RAM_BASE + 16 * data, RAW);
		poke64(RAM_BASE + 16 * data + 8, data);
	}
	for (uint64_t i = 0; i <= only_there; i++)
		assert_int_equal(
		    vpmu_event_get_info(&vpmu, RAM_BASE + 16 * i, 0, 1, 0, &again).error, 0);
	assert_int_equal(peek32(RAM_BASE + 4), 1);
	assert_int_equal(peek32(RAM_BASE + 16 + 4), 1);
	assert_int_equal(peek32(RAM_BASE + 32 + 4), 0);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, only_there).error,
	                 SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, there).value, 9);
	/* Under its other name it is the same event. */
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, RAW_INSTRS).value, 4);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, RAW, only_there, 0, 0),
	                 VPMU_OBSERVE_GUEST_USES);
}

/* Whose counter the hart refuses is told so, and is not without a budget by that. */
static void test_refused(void **state)
{
	(void)state;
	vpmu_save(&vpmu);
	stub_neighbour();
	stub.refuse_prepare = A;
	vpmu_restore(&vpmu);
	assert_int_equal(stub.budgets_lost, 1);
	stub.refuse_prepare = 0;
	assert_int_equal(vpmu_budget_set(&vpmu, true, 7), 0);
	stub_run(INSTRS, 7);
	assert_int_equal(stub.budgets_spent, 1);
	assert_int_equal(stub.budgets_lost, 1);
}

int test_vpmu_budget(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_told_once, setup),
	    cmocka_unit_test_setup(test_shared_with_the_guest, setup),
	    cmocka_unit_test_setup(test_another_filter, setup),
	    cmocka_unit_test_setup(test_calls, setup),
	    cmocka_unit_test_setup(test_resets, setup),
	    cmocka_unit_test_setup(test_away, setup),
	    cmocka_unit_test_setup(test_what_the_guest_lacks, setup),
	    cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests_name("vpmu: budget", tests, NULL, NULL);
}
