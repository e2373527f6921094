/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: SBI 3.0 section 11.13 and the flags of 11.9 and 11.10. */
#include "tests/host/vpmu_stub.h"

#include <string.h>

#define PAGE      (RAM_BASE + 0x1000)
#define SLOT(n)   (PAGE + 8 + 8UL * (n))
#define UNTOUCHED 0x5a5a5a5a5a5a5a5aUL

static int setup_offered(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.snapshot = true;
	stub_setup_policy(&policy);
	memset(stub.ram, 0x5a, sizeof(stub.ram));
	return 0;
}

static long set_page(unsigned long lo, unsigned long hi, unsigned long flags)
{
	return vpmu_snapshot_set_shmem(&vpmu, lo, hi, flags).error;
}

static int setup_page(void **state)
{
	setup_offered(state);
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
	ram_forget();
	return 0;
}

/* The shared memory is unchanged except for the bitmap and these slots. */
static void assert_untouched_but(uint64_t slots)
{
	uint32_t i;

	for (i = 0; i < 64; i++)
		if ((slots >> i & 1) == 0)
			assert_int_equal(peek64(SLOT(i)), UNTOUCHED);
	for (i = 0x208; i < 0x1000; i += 8)
		assert_int_equal(peek64(PAGE + i), UNTOUCHED);
	assert_int_equal(peek64(PAGE - 8), UNTOUCHED);
	assert_int_equal(peek64(PAGE + 0x1000), UNTOUCHED);
}

static void test_not_offered(void **state)
{
	(void)state;
	assert_int_equal(set_page(PAGE, 0, 0), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(set_page(PAGE, 0, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(set_page(1, 1, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(set_page(~0UL, ~0UL, 0), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stub.ram_checks, 0);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stop(8, TAKE), SBI_ERR_NO_SHMEM);
}

static void test_errors_of_set(void **state)
{
	static const struct {
		unsigned long lo, hi, flags;
		long error;
	} cases[] = {
	    {PAGE, 0, 1, SBI_ERR_INVALID_PARAM},
	    {PAGE, 0, 1UL << 63, SBI_ERR_INVALID_PARAM},
	    {~0UL, ~0UL, 1, SBI_ERR_INVALID_PARAM},
	    {PAGE + 1, 0, 0, SBI_ERR_INVALID_PARAM},
	    {PAGE + 8, 0, 0, SBI_ERR_INVALID_PARAM},
	    {PAGE + 0x800, 0, 0, SBI_ERR_INVALID_PARAM},
	    /* Misaligned comes before a wrong address. */
	    {0x800, 0, 0, SBI_ERR_INVALID_PARAM},
	    {~0UL, 0, 0, SBI_ERR_INVALID_PARAM},
	    {~0UL, ~0UL - 1, 0, SBI_ERR_INVALID_PARAM},
	    {PAGE, 1, 0, SBI_ERR_INVALID_ADDRESS},
	    {PAGE, ~0UL, 0, SBI_ERR_INVALID_ADDRESS},
	    {PAGE, 1UL << 63, 0, SBI_ERR_INVALID_ADDRESS},
	    {0, 0, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE - 0x1000, 0, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE + RAM_SIZE, 0, 0, SBI_ERR_INVALID_ADDRESS},
	    {~0UL - 0xfff, 0, 0, SBI_ERR_INVALID_ADDRESS},
	    {RAM_BASE, 0, 0, SBI_SUCCESS},
	    {RAM_BASE + RAM_SIZE - 0x1000, 0, 0, SBI_SUCCESS},
	    {~0UL, ~0UL, 0, SBI_SUCCESS},
	    {~0UL, ~0UL, 0, SBI_SUCCESS},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sbi_ret ret =
		    vpmu_snapshot_set_shmem(&vpmu, cases[i].lo, cases[i].hi, cases[i].flags);

		assert_int_equal(ret.error, cases[i].error);
		assert_int_equal(ret.value, 0);
	}
	assert_int_equal(ram_bytes_read() + ram_bytes_written(), 0);
}

static void test_failed_set_keeps_the_page(void **state)
{
	(void)state;
	assert_int_equal(set_page(0, 0, 0), SBI_ERR_INVALID_ADDRESS);
	assert_int_equal(set_page(PAGE + 8, 0, 0), SBI_ERR_INVALID_PARAM);
	assert_int_equal(set_page(~0UL, ~0UL, 1), SBI_ERR_INVALID_PARAM);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 7);
	assert_int_equal(stop(8, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(SLOT(3)), 7);
}

static void test_no_page(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	stub_count(CYCLES, 10);
	assert_int_equal(stop(8, TAKE), SBI_ERR_NO_SHMEM);
	assert_int_equal(stop(8, TAKE | RESET), SBI_ERR_NO_SHMEM);
	assert_int_equal(start(0x10, SEED, 5), SBI_ERR_NO_SHMEM);
	assert_int_equal(start(0, SEED, 0), SBI_ERR_NO_SHMEM);
	assert_int_equal(stop(0, TAKE), SBI_ERR_NO_SHMEM);
	/* Nothing was stopped, started or read. */
	stub_count(CYCLES, 5);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(stop(0x10, 0), SBI_ERR_ALREADY_STOPPED);
	/* Errors in the arguments come first. */
	assert_int_equal(stop(8, TAKE | 4), SBI_ERR_INVALID_PARAM);
	assert_int_equal(stop(2, TAKE), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(0x10, SEED | INIT, 5), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(0x10, SEED | 4, 5), SBI_ERR_INVALID_PARAM);
	assert_int_equal(start(0x20, SEED, 5), SBI_ERR_INVALID_PARAM);
	assert_int_equal(ram_bytes_read() + ram_bytes_written(), 0);
}

static void test_disabled_again(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(set_page(~0UL, ~0UL, 0), SBI_SUCCESS);
	assert_int_equal(stop(8, TAKE), SBI_ERR_NO_SHMEM);
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
	assert_int_equal(ram_bytes_read() + ram_bytes_written(), 0);
	assert_int_equal(stop(8, TAKE), SBI_SUCCESS);
	/* After other memory is set, the first is not accessed any more. */
	assert_int_equal(set_page(RAM_BASE + 0x3000, 0, 0), SBI_SUCCESS);
	assert_int_equal(start(8, INIT, 77), SBI_SUCCESS);
	ram_forget();
	assert_int_equal(stop(8, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(RAM_BASE + 0x3000 + 8 + 24), 77);
	assert_int_equal(peek64(SLOT(3)), 0);
	assert_int_equal(ram_bytes_written(), 16);
}

static void test_take(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, AUTO, DTLB), 5);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	vpmu_fw_event(&vpmu, 5);
	stub_count(CYCLES, 10);
	stub_count(INSTRS, 20);
	stub_count(DTLB, 30);
	assert_int_equal(ram_bytes_read() + ram_bytes_written(), 0);
	assert_int_equal(stop(0x80018, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0);
	assert_int_equal(peek64(SLOT(3)), 10);
	assert_int_equal(peek64(SLOT(4)), 20);
	assert_int_equal(peek64(SLOT(19)), 1);
	assert_untouched_but(0x80018);
	assert_int_equal(ram_bytes_read(), 0);
	assert_int_equal(ram_bytes_written(), 32);
	stub_count(DTLB, 1);
	assert_int_equal(guest_read(5), 31);
	assert_int_equal(guest_read(3), 10);
}

/* Stopped and unconfigured counters have values, too. */
static void test_take_of_stopped(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	stub_count(CYCLES, 10);
	stub_count(INSTRS, 20);
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	assert_int_equal(stop(8, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(SLOT(3)), 10);
	assert_int_equal(stop(0x58, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(SLOT(3)), 10);
	assert_int_equal(peek64(SLOT(4)), 20);
	assert_int_equal(peek64(SLOT(6)), 0);
	assert_untouched_but(0x58);
	assert_int_equal(stop(0x10, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(stop(0x10, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(SLOT(4)), 20);
}

static void test_take_with_reset(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 7);
	assert_int_equal(vpmu_scountovf(&vpmu), 8);
	assert_int_equal(stop(8, TAKE | RESET), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 8);
	assert_int_equal(peek64(SLOT(3)), 2);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	assert_true(guest_read_is_illegal(3));
	/* The next one shows that OF was cleared. */
	assert_int_equal(stop(8, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(PAGE), 0);
}

/* The bitmap has all counters, whether or not they are in the set. */
static void test_bitmap(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(start(0x38, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	stub_run(DTLB, 4);
	assert_int_equal(stop(0x10, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 8);
	assert_int_equal(peek64(SLOT(4)), -5UL);
	stub_run(DTLB, 1);
	assert_int_equal(stop(0x10, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(PAGE), 0x28);
	/* A start clears OF of its counters. */
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	assert_int_equal(start(8, INIT, -5UL), SBI_SUCCESS);
	assert_int_equal(stop(0, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0x20);
	assert_untouched_but(0x10);
}

/* An overflow that is pending during the call is in the bitmap. */
static void test_bitmap_of_pending(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	assert_int_equal(start(0x18, INIT, -5UL), SBI_SUCCESS);
	stub_count(CYCLES, 6);
	assert_int_equal(stop(0x10, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 8);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(start(0x10, 0, 0), SBI_SUCCESS);
	stub_count(INSTRS, 6);
	/* Also where no hardware counter is stopped. */
	assert_int_equal(stop(0x80000, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0x18);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(guest_read(4), 1);
}

static void test_no_overflow_no_bitmap(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.snapshot = true;
	policy.overflow = false;
	stub_setup_policy(&policy);
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(8, INIT, -1UL), SBI_SUCCESS);
	stub_count(CYCLES, 3);
	assert_int_equal(stop(8, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0);
	assert_int_equal(peek64(SLOT(3)), 2);
}

static void test_relative_to_base(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(start(0x18, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 6);
	stub_run(INSTRS, 7);
	assert_int_equal(vpmu_counter_stop(&vpmu, 4, 1, TAKE).error, SBI_SUCCESS);
	/* Counter 3 is below the base, so its OF has no bit. */
	assert_int_equal(peek64(PAGE), 1);
	assert_int_equal(peek64(SLOT(0)), 2);
	assert_untouched_but(1);
	assert_int_equal(vpmu_counter_stop(&vpmu, 1, 4, TAKE).error, SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0xc);
	assert_int_equal(peek64(SLOT(2)), 1);
	assert_untouched_but(5);
	assert_int_equal(vpmu_counter_stop(&vpmu, 34, 1, TAKE).error, SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(PAGE), 0);
	assert_int_equal(peek64(SLOT(0)), 0);
	/* An empty set has any base. */
	poke64(PAGE, UNTOUCHED);
	assert_int_equal(vpmu_counter_stop(&vpmu, 63, 0, TAKE).error, SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0);
	poke64(PAGE, UNTOUCHED);
	assert_int_equal(vpmu_counter_stop(&vpmu, 64, 0, TAKE).error, SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0);
	poke64(PAGE, UNTOUCHED);
	assert_int_equal(vpmu_counter_stop(&vpmu, ~0UL, 0, TAKE).error, SBI_SUCCESS);
	assert_int_equal(peek64(PAGE), 0);
	ram_forget();

	poke64(SLOT(0), 100);
	poke64(SLOT(1), 200);
	poke64(SLOT(16), 300);
	assert_int_equal(vpmu_counter_start(&vpmu, 3, 0x10003, SEED, 9).error, SBI_SUCCESS);
	assert_int_equal(guest_read(3), 100);
	assert_int_equal(guest_read(4), 200);
	assert_int_equal(fw_read(19), 300);
	assert_int_equal(ram_bytes_read(), 24);
	assert_int_equal(ram_bytes_written(), 0);
}

/* The highest possible index, in the last slot and the last bit. */
static void test_highest_counters(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.snapshot = true;
	policy.fw_base = 39;
	policy.hctrs = 0xfffffffd;
	stub_setup_policy(&policy);
	memset(stub.ram, 0x5a, sizeof(stub.ram));
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
	assert_int_equal(config(1UL << 54, 0, FW(5)), 54);
	assert_int_equal(config(1UL << 31, SKIP, CYCLES), 31);
	poke64(SLOT(54), 0x1122334455667788);
	poke64(SLOT(31), -1UL);
	assert_int_equal(start(1UL << 54 | 1UL << 31, SEED, 0), SBI_SUCCESS);
	assert_int_equal(fw_read(54), 0x1122334455667788);
	stub_run(CYCLES, 4);
	vpmu_fw_event(&vpmu, 5);
	assert_int_equal(stop(1UL << 54 | 1UL << 31, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(SLOT(54)), 0x1122334455667789);
	assert_int_equal(peek64(SLOT(31)), 3);
	assert_int_equal(peek64(PAGE), 1UL << 31);
	assert_untouched_but(1UL << 54 | 1UL << 31);
}

static void test_seed(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	poke64(SLOT(3), 1000);
	poke64(SLOT(4), 2000);
	poke64(SLOT(5), 3000);
	poke64(SLOT(19), 4000);
	stub_count(INSTRS, 7);
	/* 4 runs already: its slot is not read; 5 is not in the set. */
	assert_int_equal(start(0x80018, SEED, 1), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(guest_read(3), 1000);
	assert_int_equal(guest_read(4), 7);
	assert_int_equal(guest_read(5), 0);
	assert_int_equal(fw_read(19), 4000);
	assert_true(guest_reads_direct(3));
	assert_int_equal(ram_bytes_read(), 16);
	assert_int_equal(stub.ram_reads[0x1000 + 8 + 8 * 3], 1);
	assert_int_equal(stub.ram_reads[0x1000 + 8 + 8 * 19], 1);
	assert_int_equal(ram_bytes_written(), 0);
	/* Later changes are the guest's own. */
	poke64(SLOT(3), 5);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 1001);
	assert_int_equal(start(0, SEED, 0), SBI_SUCCESS);
	assert_int_equal(ram_bytes_read(), 16);
}

static void test_seed_narrow(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.snapshot = true;
	policy.width = 40;
	stub_setup_policy(&policy);
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	poke64(SLOT(3), -2UL);
	poke64(SLOT(19), -2UL);
	assert_int_equal(start(0x80008, SEED, 0), SBI_SUCCESS);
	assert_int_equal(guest_read(3), 0xfffffffffe);
	assert_int_equal(fw_read(19), -2UL);
	stub_run(CYCLES, 3);
	assert_int_equal(stop(0x80008, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(SLOT(3)), 1);
	assert_int_equal(peek64(PAGE), 8);
}

/* Two counters on one hctr: each has its own value, and the other one is not disturbed. */
static void test_shared(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	stub_count(CYCLES, 10);
	poke64(SLOT(18), 500);
	assert_int_equal(start(1UL << 18, SEED, 0), SBI_SUCCESS);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(8, TAKE), SBI_SUCCESS);
	assert_int_equal(peek64(SLOT(3)), 15);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(guest_read(18), 506);
	assert_int_equal(stop(0x40008, TAKE), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(peek64(SLOT(3)), 15);
	assert_int_equal(peek64(SLOT(18)), 506);
}

static void test_never_touched_otherwise(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	assert_int_equal(start(8, INIT, -3UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(guest_read(3), 2);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_int_equal(stop(8, RESET), SBI_SUCCESS);
	assert_int_equal(ram_bytes_read() + ram_bytes_written() + stub.ram_checks, 0);
}

static void test_reset_forgets_it(void **state)
{
	(void)state;
	vpmu_reset(&vpmu);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stop(8, TAKE), SBI_ERR_NO_SHMEM);
	/* It is still offered. */
	assert_int_equal(set_page(PAGE, 0, 0), SBI_SUCCESS);
}

int test_vpmu_snapshot(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_not_offered, stub_setup),
	    cmocka_unit_test_setup(test_errors_of_set, setup_offered),
	    cmocka_unit_test_setup(test_failed_set_keeps_the_page, setup_page),
	    cmocka_unit_test_setup(test_no_page, setup_offered),
	    cmocka_unit_test_setup(test_disabled_again, setup_page),
	    cmocka_unit_test_setup(test_take, setup_page),
	    cmocka_unit_test_setup(test_take_of_stopped, setup_page),
	    cmocka_unit_test_setup(test_take_with_reset, setup_page),
	    cmocka_unit_test_setup(test_bitmap, setup_page),
	    cmocka_unit_test_setup(test_bitmap_of_pending, setup_page),
	    cmocka_unit_test_setup(test_no_overflow_no_bitmap, setup_page),
	    cmocka_unit_test_setup(test_relative_to_base, setup_page),
	    cmocka_unit_test_setup(test_highest_counters, setup_page),
	    cmocka_unit_test_setup(test_seed, setup_page),
	    cmocka_unit_test_setup(test_seed_narrow, setup_page),
	    cmocka_unit_test_setup(test_shared, setup_page),
	    cmocka_unit_test_setup(test_never_touched_otherwise, setup_page),
	    cmocka_unit_test_setup(test_reset_forgets_it, setup_page),
	};

	return cmocka_run_group_tests_name("vpmu: snapshot", tests, NULL, NULL);
}
