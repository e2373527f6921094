/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware events and counters. */
#include "tests/host/vpmu_stub.h"

static void events(uint32_t code, unsigned int n)
{
	while (n-- != 0)
		vpmu_fw_event(&vpmu, code);
}

static void test_counts_while_running(void **state)
{
	(void)state;
	events(5, 100);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(fw_read(19), 0);
	events(5, 10);
	assert_int_equal(start(1UL << 19, 0, 0), 0);
	events(5, 3);
	events(6, 50);
	assert_int_equal(fw_read(19), 3);
	assert_int_equal(stop(1UL << 19, 0), 0);
	events(5, 1000);
	assert_int_equal(fw_read(19), 3);
	assert_int_equal(start(1UL << 19, 0, 0), 0);
	events(5, 1);
	assert_int_equal(fw_read(19), 4);
	assert_int_equal(start(1UL << 19, INIT, 9), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(fw_read(19), 4);
	assert_int_equal(stop(1UL << 19, 0), 0);
	assert_int_equal(stop(1UL << 19, 0), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(start(1UL << 19, INIT, -2UL), 0);
	events(5, 5);
	/* It wraps silently. */
	assert_int_equal(fw_read(19), 3);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
}

static void test_several_on_one_event(void **state)
{
	(void)state;
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	events(5, 2);
	assert_int_equal(config(FWS, AUTO, FW(5)), 20);
	assert_int_equal(config(FWS, AUTO, FW(6)), 21);
	events(5, 3);
	events(6, 4);
	assert_int_equal(fw_read(19), 5);
	assert_int_equal(fw_read(20), 3);
	assert_int_equal(fw_read(21), 4);
	assert_int_equal(stop(1UL << 19, RESET), 0);
	events(5, 1);
	assert_int_equal(fw_read(20), 4);
}

static void test_who_may_be_read(void **state)
{
	static const unsigned long others[] = {0, 1, 3, 18, 35, 63, 64, 83, 1UL << 32, ~0UL};
	unsigned long i;

	(void)state;
	/* Before its first configuration. */
	assert_int_equal(vpmu_counter_fw_read(&vpmu, 34).error, SBI_ERR_INVALID_PARAM);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	events(5, 3);
	assert_int_equal(stop(1UL << 19, 0), 0);
	assert_int_equal(fw_read(19), 3);
	assert_int_equal(stop(1UL << 19, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(vpmu_counter_fw_read(&vpmu, 19).error, SBI_ERR_INVALID_PARAM);
	assert_int_equal(vpmu_counter_fw_read(&vpmu, 19).value, 0);
	assert_int_equal(vpmu_counter_fw_read_hi(&vpmu, 19).error, SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(vpmu_counter_fw_read(&vpmu, others[i]).error,
		                 SBI_ERR_INVALID_PARAM);
		assert_int_equal(vpmu_counter_fw_read_hi(&vpmu, others[i]).error,
		                 SBI_ERR_INVALID_PARAM);
	}
	assert_int_equal(start(1UL << 19, INIT, 5), SBI_ERR_INVALID_PARAM);
}

static void test_read_hi(void **state)
{
	(void)state;
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(start(1UL << 19, INIT, 0x1234567800000000), 0);
	assert_int_equal(fw_read(19), 0x1234567800000000);
	assert_int_equal(vpmu_counter_fw_read_hi(&vpmu, 19).error, SBI_SUCCESS);
	assert_int_equal(vpmu_counter_fw_read_hi(&vpmu, 19).value, 0);
	assert_int_equal(vpmu_counter_fw_read_hi(&vpmu, 34).error, SBI_SUCCESS);
}

static void test_configuring(void **state)
{
	(void)state;
	/* Filters have no effect: the same event under all of them. */
	assert_int_equal(config(FWS, 0xf8 | AUTO, FW(5)), 19);
	events(5, 2);
	assert_int_equal(fw_read(19), 2);
	assert_int_equal(config(1UL << 19, SKIP, FW(5)), 19);
	assert_int_equal(config(1UL << 19, SKIP | CLEAR, FW(5)), 19);
	assert_int_equal(fw_read(19), 0);
	events(5, 1);
	assert_int_equal(fw_read(19), 1);
	assert_int_equal(config_error(1UL << 19, SKIP, FW(6)), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stop(1UL << 19, 0), 0);
	/* The value is kept for another event, unless it is cleared. */
	assert_int_equal(config(1UL << 19, AUTO, FW(6)), 19);
	events(6, 1);
	assert_int_equal(fw_read(19), 2);
	assert_int_equal(stop(1UL << 19, 0), 0);
	assert_int_equal(config(1UL << 19, AUTO | CLEAR, FW(7)), 19);
	assert_int_equal(fw_read(19), 0);
	/* No hardware was asked for any of it. */
	assert_int_equal(stub.prepares + stub.starts + stub.stops + stub.takes + stub.directs, 0);
}

static void test_only_the_allowed(void **state)
{
	struct vpmu_policy policy = stub_policy;
	uint32_t code;

	(void)state;
	policy.fw_events = 0xffffffff;
	stub_setup_policy(&policy);
	for (code = 0; code < 40; code++) {
		long error = config_error(1UL << 20, 0, FW(code));

		assert_int_equal(error, code < 22 ? SBI_SUCCESS : SBI_ERR_NOT_SUPPORTED);
	}
}

/* A code that does not exist is not counted, and accesses no memory out of bounds. */
static void test_no_such_code(void **state)
{
	struct {
		struct vpmu vpmu;
		uint64_t after[2];
	} box = {.after = {1, 2}};
	struct vpmu before;

	(void)state;
	vpmu_init(&box.vpmu, &stub_policy);
	before = box.vpmu;
	vpmu_fw_event(&box.vpmu, 22);
	vpmu_fw_event(&box.vpmu, 23);
	vpmu_fw_event(&box.vpmu, 0xffffffff);
	assert_int_equal(box.after[0], 1);
	assert_int_equal(box.after[1], 2);
	assert_memory_equal(&before, &box.vpmu, sizeof(before));
}

static void test_all_sixteen(void **state)
{
	unsigned long i;

	(void)state;
	for (i = 0; i < 16; i++)
		assert_int_equal(config(FWS, AUTO, FW(4 + i % 10)), 19 + i);
	assert_int_equal(config_error(FWS, 0, FW(4)), SBI_ERR_NOT_SUPPORTED);
	for (i = 4; i < 14; i++)
		events((uint32_t)i, (unsigned int)i);
	for (i = 0; i < 16; i++)
		assert_int_equal(fw_read(19 + i), 4 + i % 10);
}

/* Events of a vcpu count even if it is not resident. */
static void test_not_resident(void **state)
{
	(void)state;
	assert_int_equal(config(FWS, AUTO, FW(7)), 19);
	vpmu_save(&vpmu);
	stub_neighbour();
	events(7, 3);
	vpmu_restore(&vpmu);
	assert_int_equal(fw_read(19), 3);
	assert_int_equal(stub.starts + stub.stops + stub.takes + stub.directs, 0);
}

int test_vpmu_fw(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_counts_while_running, stub_setup),
	    cmocka_unit_test_setup(test_several_on_one_event, stub_setup),
	    cmocka_unit_test_setup(test_who_may_be_read, stub_setup),
	    cmocka_unit_test_setup(test_read_hi, stub_setup),
	    cmocka_unit_test_setup(test_configuring, stub_setup),
	    cmocka_unit_test_setup(test_only_the_allowed, stub_setup),
	    cmocka_unit_test_setup(test_no_such_code, stub_setup),
	    cmocka_unit_test_setup(test_all_sixteen, stub_setup),
	    cmocka_unit_test_setup(test_not_resident, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: firmware counters", tests, NULL, NULL);
}
