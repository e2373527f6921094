/* SPDX-License-Identifier: Apache-2.0 */
/* World switch: nothing of this vcpu stays on the hart, and nothing of another counts for it. */
#include "tests/host/vpmu_stub.h"

#define A (1UL << 3)
#define B (1UL << 18)

static void away(void)
{
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
}

static void test_nothing_running(void **state)
{
	(void)state;
	away();
	assert_int_equal(config(HW, 0, CYCLES), 3);
	away();
	assert_int_equal(stub.takes, 0);
	assert_int_equal(stub.starts + stub.stops + stub.directs, 0);
}

static void test_counts_go_on(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A | 0x10, INIT, 0x8000000000000001), 0);
	assert_int_equal(start(B, INIT, 17), 0);
	for (i = 1; i <= 1000; i++) {
		stub_count(CYCLES, 3);
		stub_count(INSTRS, 2);
		away();
		assert_int_equal(guest_read(3), 0x8000000000000001 + 3 * i);
		assert_int_equal(guest_read(4), 0x8000000000000001 + 2 * i);
		assert_int_equal(guest_read(18), 17 + 3 * i);
		/* One call in each direction, however many counters run. */
		assert_int_equal(stub.starts, 1 + i);
		assert_int_equal(stub.last_n, 2);
		assert_int_equal(stub.stops, i);
		assert_int_equal(stub.last_stop, 0x18);
		assert_int_equal(stub.direct, 0x18);
	}
	assert_int_equal(stub.directs, 1 + 2 * 1000);
}

static void test_nothing_left_behind(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(stop(0x10, 0), 0);
	assert_int_equal(start(A, INIT, -5UL), 0);
	assert_int_equal(stub.direct, 0x18);
	vpmu_save(&vpmu);
	assert_int_equal(stub.direct, 0);
	assert_false(stub.hctr[3].running);
	/* A second save has no effect. */
	vpmu_save(&vpmu);
	assert_int_equal(stub.stops, 2);
	stub_neighbour();
	vpmu_restore(&vpmu);
	/* The running one is direct again, the stopped one's value is in memory only. */
	assert_int_equal(stub.direct, 8);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(guest_read(3), -5UL);
	vpmu_restore(&vpmu);
	assert_int_equal(stub.starts, 3);
}

/* Only stopped counters, but one can be read directly: the next vcpu must not be able to. */
static void test_held_value_is_closed(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub_count(CYCLES, 9);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(stub.direct, 8);
	vpmu_save(&vpmu);
	assert_int_equal(stub.direct, 0);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_int_equal(guest_read(3), 9);
	assert_false(guest_reads_direct(3));
	assert_int_equal(start(A, 0, 0), 0);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(3), 10);
}

static void test_overflow_across(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A, INIT, -10UL), 0);
	assert_int_equal(start(B, INIT, -20UL), 0);
	stub_run(CYCLES, 4);
	away();
	assert_true(stub.hctr[3].armed);
	stub_run(CYCLES, 5);
	assert_int_equal(stub.lcofis, 0);
	away();
	/* It wraps, an LCOFI is pending, and the vcpu leaves before anyone has read it. */
	stub_count(CYCLES, 1);
	assert_true(stub.pending);
	vpmu_save(&vpmu);
	assert_false(stub.pending);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), A);
	stub_neighbour();
	vpmu_restore(&vpmu);
	/* A is not armed again; B is. */
	assert_true(stub.hctr[3].armed);
	assert_int_equal(stub.hctr[3].value, -10UL);
	stub_run(CYCLES, 9);
	assert_int_equal(stub.lcofis, 1);
	stub_run(CYCLES, 1);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(vpmu_scountovf(&vpmu), A | B);
	assert_int_equal(guest_read(3), 10);
	away();
	assert_false(stub.hctr[3].armed);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_read(3), 10);
	assert_int_equal(guest_read(18), 0);
	assert_true(guest_reads_direct(3));
}

/* A wrap that only the count shows is reported before the vcpu leaves. */
static void test_late_flag_at_save(void **state)
{
	(void)state;
	stub.quiet_flags = true;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -3UL), 0);
	stub_count(CYCLES, 5);
	vpmu_save(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_false(stub.hctr[3].armed);
	assert_int_equal(guest_read(3), 2);
}

static void test_restore_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A | B | 0x10, INIT, 40), 0);
	assert_int_equal(config(HW, 0, CYCLES), 17);
	assert_int_equal(start(1UL << 17, INIT, -9UL), 0);
	stub_count(CYCLES, 2);
	stub.refuse_prepare = 8;
	away();
	/* No number is better than a wrong one. */
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(18));
	assert_int_equal(guest_read(4), 40);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	/* It is not retried without the guest's request. */
	stub.refuse_prepare = 0;
	away();
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(start(A, 0, 0), 0);
	assert_int_equal(guest_read(3), 42);
	stub_run(CYCLES, 20);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(stub.lcofis, 0);
}

static void test_reset_after_restore(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	away();
	vpmu_reset(&vpmu);
	assert_false(stub.hctr[3].running);
	away();
	assert_int_equal(config(HW, SINH, CYCLES), 3);
}

static void test_cycles_make_wfi_trap(void **state)
{
	(void)state;
	assert_false(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(start(A, 0, 0), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	away();
	assert_true(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(config(HW, AUTO, CYCLES), 18);
	assert_int_equal(stop(B, 0), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(start(B, 0, 0), 0);
	assert_int_equal(stop(A, RESET), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(stop(B, 0), 0);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	/* The same counter for something else. */
	assert_int_equal(config(B, SKIP | AUTO, INSTRS), 18);
	assert_false(vpmu_wfi_must_trap(&vpmu));
}

static unsigned int trapped_by_start(unsigned long flags, uint64_t value)
{
	unsigned int before = stub.trapped_wfis;

	assert_int_equal(stop(A, 0), 0);
	vpmu_note_wfi(&vpmu, false);
	assert_int_equal(start(A, flags, value), 0);
	return stub.trapped_wfis - before;
}

/* Each way to start a counter tells the port, whose guest sleeps until then; and once only. */
static void test_starts_trap_wfi(void **state)
{
	(void)state;
	assert_true(vpmu_wfi_traps(&vpmu));
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stub.trapped_wfis, 0);
	assert_int_equal(trapped_by_start(0, 0), 1);
	assert_true(vpmu_wfi_traps(&vpmu));
	assert_int_equal(trapped_by_start(INIT, 5), 1);
	assert_int_equal(trapped_by_start(INIT, -5UL), 1);
	assert_int_equal(stop(A, 0), 0);
	assert_int_equal(start(A, 0, 0), 0);
	assert_int_equal(stub.trapped_wfis, 3);
	/* What does not suffer leaves the guest its sleep. */
	assert_int_equal(stop(A, RESET), 0);
	vpmu_note_wfi(&vpmu, false);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(stub.trapped_wfis, 3);
	assert_false(vpmu_wfi_traps(&vpmu));
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(stub.trapped_wfis, 4);
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_note_wfi(&vpmu, false);
	vpmu_restore(&vpmu);
	assert_int_equal(stub.trapped_wfis, 5);
}

static void test_all_make_wfi_trap(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.wfi_recounts = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(FWS, AUTO, FW(5)), 19);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(start(0x10, 0, 0), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(config(HW, AUTO, DTLB), 5);
	assert_int_equal(stop(0x10, RESET), 0);
	assert_true(vpmu_wfi_must_trap(&vpmu));
	assert_int_equal(stop(0x20, 0), 0);
	assert_false(vpmu_wfi_must_trap(&vpmu));
}

static void test_idle_cycles_make_nothing_trap(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.idle_cycles = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_false(vpmu_wfi_must_trap(&vpmu));
	policy.wfi_recounts = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config_error(HW, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_false(vpmu_wfi_must_trap(&vpmu));
}

int test_vpmu_switch(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_nothing_running, stub_setup),
	    cmocka_unit_test_setup(test_counts_go_on, stub_setup),
	    cmocka_unit_test_setup(test_nothing_left_behind, stub_setup),
	    cmocka_unit_test_setup(test_held_value_is_closed, stub_setup),
	    cmocka_unit_test_setup(test_overflow_across, stub_setup),
	    cmocka_unit_test_setup(test_late_flag_at_save, stub_setup),
	    cmocka_unit_test_setup(test_restore_refused, stub_setup),
	    cmocka_unit_test_setup(test_reset_after_restore, stub_setup),
	    cmocka_unit_test_setup(test_cycles_make_wfi_trap, stub_setup),
	    cmocka_unit_test_setup(test_starts_trap_wfi, stub_setup),
	    cmocka_unit_test(test_all_make_wfi_trap),
	    cmocka_unit_test(test_idle_cycles_make_nothing_trap),
	};

	return cmocka_run_group_tests_name("vpmu: world switch", tests, NULL, NULL);
}
