/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of vpmu/: what there is, and sets of counters. The groups are in test_vpmu_*.c. */
#include <string.h>

#include "tests/host/vpmu_stub.h"

static void test_num_counters(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	assert_int_equal(vpmu_num_counters(&vpmu).error, SBI_SUCCESS);
	assert_int_equal(vpmu_num_counters(&vpmu).value, 35);
	policy.fw_base = 39;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_num_counters(&vpmu).value, 55);
}

static void test_get_info(void **state)
{
	static const unsigned long invalid[] = {1, 35, 63, 64, 67, 1UL << 32, ~0UL};
	struct vpmu_policy policy = stub_policy;
	unsigned long i;

	(void)state;
	assert_int_equal(vpmu_counter_get_info(&vpmu, 0).error, SBI_SUCCESS);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 0).value, 0x3fc00);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 18).value, 0x3fc12);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 19).error, SBI_SUCCESS);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 19).value, 0x800000000003f000);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 34).value, 0x800000000003f000);
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		assert_int_equal(vpmu_counter_get_info(&vpmu, invalid[i]).error,
		                 SBI_ERR_INVALID_PARAM);
		assert_int_equal(vpmu_counter_get_info(&vpmu, invalid[i]).value, 0);
	}

	policy.width = 48;
	policy.hctrs = 0x8; /* not granted is a hole, though the hart has it */
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 3).value, 0x2fc03);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 4).error, SBI_ERR_INVALID_PARAM);
	assert_int_equal(vpmu_counter_get_info(&vpmu, 19).value, 0x800000000003f000);
}

struct set {
	unsigned long base, mask;
};

/* Each has an invalid member; counter 3 is in each that can have it. */
static const struct set invalid_sets[] = {
    {0, 0xa},              /* the hole at 1 */
    {3, 1UL | 1UL << 32},  /* 35 */
    {0, 8UL | 1UL << 35},  /* 35 */
    {0, ~0UL},             /* holes and the end */
    {3, 1UL | 1UL << 61},  /* 64: shifted out */
    {3, 1UL | 1UL << 63},  /* 66: shifted out, would be 2 */
    {35, 1},               /* base at the end */
    {63, 1},               /* last bit */
    {64, 8},               /* base beyond a mask's width: must not wrap to 3 */
    {4096, 8},             /* as above */
    {~0UL, 0x10},          /* base + bit would be 3 */
    {~0UL - 2, 1UL << 6},  /* as above */
    {1UL << 32, 8},        /* base cut to 32 bits would be 0 */
    {1UL << 63, 1UL << 3}, /* as above */
};

static void test_invalid_sets(void **state)
{
	struct vpmu before;
	unsigned long i;

	(void)state;
	assert_int_equal(config(1UL << 3, 0, CYCLES), 3);
	assert_int_equal(start(1UL << 3, INIT, 100), 0);
	before = vpmu;
	for (i = 0; i < sizeof(invalid_sets) / sizeof(invalid_sets[0]); i++) {
		unsigned long base = invalid_sets[i].base;
		unsigned long mask = invalid_sets[i].mask;

		assert_int_equal(
		    vpmu_counter_config_matching(&vpmu, base, mask, SKIP | CLEAR, CYCLES, 0).error,
		    SBI_ERR_INVALID_PARAM);
		assert_int_equal(vpmu_counter_start(&vpmu, base, mask, INIT, 5).error,
		                 SBI_ERR_INVALID_PARAM);
		assert_int_equal(vpmu_counter_stop(&vpmu, base, mask, RESET).error,
		                 SBI_ERR_INVALID_PARAM);
	}
	assert_memory_equal(&before, &vpmu, sizeof(vpmu));
	assert_true(stub.hctr[3].running);
	assert_int_equal(guest_read(3), 100);
}

static void test_set_base(void **state)
{
	(void)state;
	/* base + bit names the counter; the answer is the counter, not the bit. */
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 3, 1, 0, CYCLES, 0).value, 3);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 19, 0x8000, 0, FW(6), 0).value, 34);
	assert_int_equal(vpmu_counter_start(&vpmu, 2, 2, INIT, 7).error, 0);
	assert_int_equal(guest_read(3), 7);
	assert_int_equal(vpmu_counter_stop(&vpmu, 3, 1, 0).error, 0);
	assert_int_equal(vpmu_counter_stop(&vpmu, 1, 4, 0).error, SBI_ERR_ALREADY_STOPPED);
}

static void test_empty_set(void **state)
{
	static const unsigned long bases[] = {0, 1, 34, 35, 4096, ~0UL};
	unsigned long i;

	(void)state;
	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		unsigned long base = bases[i];

		assert_int_equal(vpmu_counter_start(&vpmu, base, 0, INIT, 1).error, SBI_SUCCESS);
		assert_int_equal(vpmu_counter_stop(&vpmu, base, 0, RESET).error, SBI_SUCCESS);
		assert_int_equal(vpmu_counter_config_matching(&vpmu, base, 0, 0, CYCLES, 0).error,
		                 SBI_ERR_NOT_SUPPORTED);
		assert_int_equal(
		    vpmu_counter_config_matching(&vpmu, base, 0, SKIP, CYCLES, 0).error,
		    SBI_ERR_NOT_SUPPORTED);
		assert_int_equal(
		    vpmu_counter_config_matching(&vpmu, base, 0, 0x100, CYCLES, 0).error,
		    SBI_ERR_INVALID_PARAM);
	}
	assert_int_equal(vpmu.configured, 0);
	assert_int_equal(stub.starts + stub.stops + stub.prepares, 0);
}

static void test_csr_read_bounds(void **state)
{
	static const uint32_t illegal[] = {0,     0xbff, 0xc01, 0xc05, 0xc13,
	                                   0xc1f, 0xc20, 0xc22, 0xc80, 0xffffffff};
	uint64_t value = 1;
	unsigned long i;

	(void)state;
	/* The firmware counters 19 to 34 have indices that look like CSRs, and are none. */
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	for (i = 0; i < sizeof(illegal) / sizeof(illegal[0]); i++)
		assert_false(vpmu_csr_read(&vpmu, illegal[i], &value));
	assert_int_equal(value, 1);
}

/* Every index that there is can be named and chosen. */
static void test_every_index(void **state)
{
	uint32_t i;

	(void)state;
	assert_true(sizeof(struct vpmu) <= 4480);
	for (i = 3; i < 19; i++)
		assert_int_equal(vpmu_counter_config_matching(&vpmu, i, 1, SKIP, INSTRS, 0).value,
		                 i);
	for (i = 19; i < 35; i++)
		assert_int_equal(vpmu_counter_config_matching(&vpmu, i, 1, SKIP, FW(5), 0).value,
		                 i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_num_counters, stub_setup),
	    cmocka_unit_test_setup(test_get_info, stub_setup),
	    cmocka_unit_test_setup(test_invalid_sets, stub_setup),
	    cmocka_unit_test_setup(test_set_base, stub_setup),
	    cmocka_unit_test_setup(test_empty_set, stub_setup),
	    cmocka_unit_test_setup(test_csr_read_bounds, stub_setup),
	    cmocka_unit_test_setup(test_every_index, stub_setup),
	};
	int failed = cmocka_run_group_tests_name("vpmu: sets", tests, NULL, NULL);

	failed += test_vpmu_config();
	failed += test_vpmu_choice();
	failed += test_vpmu_start_stop();
	failed += test_vpmu_direct();
	failed += test_vpmu_share();
	failed += test_vpmu_overflow();
	failed += test_vpmu_wrap();
	failed += test_vpmu_fw();
	failed += test_vpmu_switch();
	failed += test_vpmu_snapshot();
	failed += test_vpmu_event_info();
	failed += test_vpmu_policy();
	failed += test_vpmu_retired();
	failed += test_vpmu_count_hs();
	failed += test_vpmu_show();
	failed += test_vpmu_fixed();
	failed += test_vpmu_observe();
	failed += test_vpmu_sample();
	failed += test_vpmu_budget();
	failed += test_vpmu_failed();
	failed += test_vpmu_room();
	failed += test_vpmu_shown();
	failed += test_vpmu_shown_near();
	failed += test_vpmu_shown_made();
	return failed;
}
