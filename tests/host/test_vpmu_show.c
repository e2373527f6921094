/* SPDX-License-Identifier: Apache-2.0 */
/* vpmu_describe(): what the operator sees of a guest's counters. */
#include <string.h>

#include "tests/host/vpmu_stub.h"
#include "vpmu/bits.h"
#include "vpmu/show.h"

#define A (1UL << 3)
#define B (1UL << 18)

/* Of the vcpu's own hart. Reading must change nothing. */
static struct vpmu_view look(uint32_t idx, bool same_hart)
{
	struct vpmu before = vpmu;
	struct stub stub_before = stub;
	struct vpmu_view view;

	memset(&view, 0xa5, sizeof(view));
	assert_true(vpmu_describe(&vpmu, idx, same_hart, &view));
	assert_memory_equal(&before, &vpmu, sizeof(vpmu));
	assert_memory_equal(&stub_before, &stub, sizeof(stub));
	return view;
}

#define SEES(idx, same_hart, is_state, holds_what, is_value)                                       \
	do {                                                                                       \
		struct vpmu_view seen = look(idx, same_hart);                                      \
		assert_int_equal(seen.state, is_state);                                            \
		assert_int_equal(seen.holds, holds_what);                                          \
		assert_int_equal(seen.value, is_value);                                            \
	} while (0)

static void test_not_configured(void **state)
{
	static const uint32_t none[] = {0, 1, 3, 4, 19, 34, 35, 63, 64, 67, ~0U};
	struct vpmu_view view;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(vpmu_describe(&vpmu, none[i], true, &view));
	assert_int_equal(vpmu_configured(&vpmu), 0);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(vpmu_configured(&vpmu), A);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_false(vpmu_describe(&vpmu, 3, true, &view));
}

static void test_resident(void **state)
{
	struct vpmu_view view;

	(void)state;
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	SEES(3, true, VPMU_STOPPED, VPMU_VALUE_NOW, 0);
	assert_int_equal(start(A, INIT, 1000), 0);
	stub_count_vu(CYCLES, 10);
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
	view = look(3, true);
	assert_int_equal(view.event_idx, CYCLES);
	assert_int_equal(view.event_data, 0);
	assert_int_equal(view.inhibit, HW_INH_VS);
	assert_int_equal(view.hctr, 3);
	assert_true(view.direct);
	assert_false(view.shared);
	assert_false(view.is_fw);
	assert_false(view.overflow);
	assert_int_equal(stop(A, 0), 0);
	stub_count_vu(CYCLES, 10);
	SEES(3, true, VPMU_STOPPED, VPMU_VALUE_NOW, 1010);
	/* A stopped counter's value is only here. */
	SEES(3, false, VPMU_STOPPED, VPMU_VALUE_NOW, 1010);
}

static void test_shared(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A, INIT, 1000), 0);
	assert_int_equal(start(B, INIT, 5), 0);
	stub_count(CYCLES, 10);
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
	SEES(18, true, VPMU_RUNNING, VPMU_VALUE_NOW, 15);
	assert_true(look(3, true).direct);
	assert_false(look(18, true).direct);
	assert_true(look(3, true).shared);
	assert_true(look(18, true).shared);
	assert_int_equal(look(18, true).hctr, 3);
}

/* The stub fails the test if a counter is read that belongs to another vcpu. */
static void test_not_resident(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 1000), 0);
	stub_count(CYCLES, 10);
	vpmu_save(&vpmu);
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
	assert_true(look(3, true).direct);
	vpmu_evict(&vpmu, (hctr_t){3});
	stub_neighbour();
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
	assert_true(look(3, true).direct);
	vpmu_restore(&vpmu);
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
}

static void test_from_another_hart(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 1000), 0);
	stub_count(CYCLES, 10);
	SEES(3, false, VPMU_RUNNING, VPMU_VALUE_AWAY, 0);
	vpmu_save(&vpmu);
	vpmu_evict(&vpmu, (hctr_t){3});
	stub_neighbour();
	/* It was read when another vcpu took the counter. */
	SEES(3, false, VPMU_RUNNING, VPMU_VALUE_NOW, 1010);
}

static void test_lost(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	stub.fail_start = A;
	assert_int_not_equal(start(A, INIT, 7), 0);
	SEES(3, true, VPMU_LOST, VPMU_VALUE_NONE, vpmu.counter[3].value);
	assert_false(look(3, true).direct);
}

static void test_overflow(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -3UL), 0);
	stub_run(CYCLES, 10);
	SEES(3, true, VPMU_RUNNING, VPMU_VALUE_NOW, 7);
	assert_true(look(3, true).overflow);
}

static void test_raw(void **state)
{
	(void)state;
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, 0x1234).error, 0);
	assert_int_equal(look(lowest_bit(vpmu.configured), true).event_data, 0x1234);
	assert_int_equal(look(lowest_bit(vpmu.configured), true).event_idx, RAW);
}

static void test_firmware(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.fw_port_events = 1;
	stub_setup_policy(&policy);
	vpmu_fw_event(&vpmu, 5);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	assert_int_equal(config(FWS, AUTO, FW(0)), 20);
	vpmu_fw_event(&vpmu, 5);
	vpmu_fw_event(&vpmu, 5);
	SEES(19, true, VPMU_RUNNING, VPMU_VALUE_NOW, 2);
	SEES(19, false, VPMU_RUNNING, VPMU_VALUE_NOW, 2);
	assert_true(look(19, true).is_fw);
	assert_false(look(19, true).direct);
	stub.fw_total[0] += 30;
	assert_int_equal(look(20, true).holds, VPMU_VALUE_LESS_TOTAL);
	assert_int_equal(look(20, true).value + stub.fw_total[0], fw_read(20));
	assert_int_equal(stop(1UL << 20, 0), 0);
	SEES(20, true, VPMU_STOPPED, VPMU_VALUE_NOW, fw_read(20));
}

int test_vpmu_show(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_not_configured, stub_setup),
	    cmocka_unit_test_setup(test_resident, stub_setup),
	    cmocka_unit_test_setup(test_shared, stub_setup),
	    cmocka_unit_test_setup(test_not_resident, stub_setup),
	    cmocka_unit_test_setup(test_from_another_hart, stub_setup),
	    cmocka_unit_test_setup(test_lost, stub_setup),
	    cmocka_unit_test_setup(test_overflow, stub_setup),
	    cmocka_unit_test_setup(test_raw, stub_setup),
	    cmocka_unit_test_setup(test_firmware, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: shown to others", tests, NULL, NULL);
}
