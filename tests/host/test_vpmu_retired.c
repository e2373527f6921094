/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that trapped and were emulated: the guest executed them, but the hart did not count
 * them. */
#include "tests/host/vpmu_stub.h"
#include "vpmu/retired.h"

static int setup_cheap(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.cheap_moves = true;
	policy.steps = true;
	stub_setup_policy(&policy);
	return 0;
}

/* If a start is expensive the hardware counter is not changed, and reads trap. */
static void test_slow(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, AUTO, DTLB), 5);
	stub_count(INSTRS, 10);
	stub.starts = stub.stops = stub.takes = 0;
	stub_emulate(false);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(guest_read(4), 11);
	assert_int_equal(guest_read(5), 0);
	stub_emulate(true);
	stub_count(INSTRS, 1);
	assert_int_equal(guest_read(4), 13);
	assert_int_equal(stub.starts + stub.stops + stub.takes, 0);
	assert_int_equal(stub.direct, 1U << 5);
	/* Direct again after the next start, */
	assert_int_equal(stop(0x10, 0), SBI_SUCCESS);
	assert_int_equal(guest_read(4), 13);
	assert_int_equal(start(0x10, 0, 0), SBI_SUCCESS);
	assert_true(guest_reads_direct(4));
	assert_int_equal(guest_read(4), 13);
	/* and after the next world switch. */
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_true(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 2);
}

/* If it is cheap the hardware counter is advanced by one, and nothing else changes. */
static void test_fast(void **state)
{
	(void)state;
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	assert_int_equal(config(HW, AUTO, DTLB), 5);
	stub_count(INSTRS, 10);
	stub.starts = stub.stops = stub.steps = stub.directs = 0;
	stub_emulate(false);
	assert_int_equal(stub.direct, 0x38);
	assert_int_equal(stub.starts + stub.stops + stub.directs, 0);
	assert_int_equal(stub.steps, 2);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(guest_read(4), 11);
	assert_int_equal(stub.hctr[4].value, 11);
	assert_int_equal(guest_read(5), 0);
	stub_emulate(true);
	assert_int_equal(stub.hctr[3].value, 2);
}

/* No counter is read directly, so the hardware counter need not be set. */
static void test_fast_trapped(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.cheap_moves = true;
	policy.steps = true;
	policy.trap_reads = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	stub.starts = stub.stops = 0;
	stub_emulate(false);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(stub.starts + stub.stops, 0);
}

static void filters(void)
{
	assert_int_equal(config(HW, AUTO | UINH, CYCLES), 3);
	assert_int_equal(config(HW, AUTO | SINH, INSTRS), 4);
	stub_emulate(false);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(guest_read(4), 0);
	stub_emulate(true);
	stub_emulate(true);
	assert_int_equal(guest_read(3), 1);
	assert_int_equal(guest_read(4), 2);
	assert_int_equal(stop(0x18, RESET), SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO | CLEAR | UINH | SINH, INSTRS), 4);
	stub_emulate(false);
	stub_emulate(true);
	assert_int_equal(guest_read(4), 0);
}

static void test_filters(void **state)
{
	filters();
	setup_cheap(state);
	filters();
}

static void test_not_running(void **state)
{
	(void)state;
	stub_emulate(false);
	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	stub_count(CYCLES, 5);
	assert_int_equal(stop(8, 0), SBI_SUCCESS);
	stub_emulate(false);
	stub_emulate(true);
	assert_int_equal(guest_read(3), 5);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	stub_emulate(false);
	assert_int_equal(config(8, 0, CYCLES), 3);
	assert_int_equal(guest_read(3), 5);
}

/* Emulated instructions of an earlier event do not count for a new one. */
static void test_reconfigured(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(0x10, SKIP | AUTO, DTLB), 4);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stop(0x10, 0), SBI_SUCCESS);
	/* A refused AUTO_START leaves the counter as it was. */
	assert_int_equal(config(1UL << 17, 0, DTLB), 17);
	assert_int_equal(config(1UL << 18, 0, INSTRS), 18);
	stub_away();
	stub.refuse_prepare = 0x10;
	assert_int_equal(config_error(0x10, SKIP | AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	stub.refuse_prepare = 0;
	assert_int_equal(start(0x10, 0, 0), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stop(0x10, RESET), SBI_SUCCESS);
	assert_int_equal(config(0x10, 0, INSTRS), 4);
	stub_away();
	stub.refuse_prepare = 0x20;
	assert_int_equal(config_error(0x10, SKIP | AUTO, DTLB), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(start(0x10, 0, 0), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 1);
}

static void shared(void)
{
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	stub_count(INSTRS, 10);
	assert_int_equal(config(HW, AUTO, INSTRS), 18);
	assert_int_equal(config(HW, 0, INSTRS), 17);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 11);
	assert_int_equal(guest_read(18), 1);
	assert_int_equal(guest_read(17), 0);
	assert_int_equal(stop(0x10, 0), SBI_SUCCESS);
	stub_emulate(true);
	stub_count(INSTRS, 1);
	assert_int_equal(guest_read(4), 11);
	assert_int_equal(guest_read(18), 3);
	assert_int_equal(stop(1UL << 18, RESET), SBI_SUCCESS);
	assert_int_equal(start(0x10, 0, 0), SBI_SUCCESS);
	stub_count(INSTRS, 1);
	assert_int_equal(guest_read(4), 12);
}

static void test_shared(void **state)
{
	shared();
	setup_cheap(state);
	shared();
}

/* An armed counter wraps where it should, one instruction earlier than the hart expected. */
static void armed(void)
{
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -5UL), SBI_SUCCESS);
	stub_run(INSTRS, 2);
	stub_emulate(false);
	assert_true(guest_reads_direct(4));
	assert_int_equal(guest_read(4), -2UL);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.lcofis, 0);
	stub_run(INSTRS, 1);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x10);
	assert_int_equal(guest_read(4), 0);
	/* After it, nothing more is reported. */
	stub_emulate(false);
	stub_run(INSTRS, 3);
	assert_int_equal(guest_read(4), 4);
	assert_int_equal(stub.lcofis, 1);
}

static void test_armed(void **state)
{
	armed();
	setup_cheap(state);
	armed();
}

/* The emulated instruction itself makes the counter wrap. */
static void wraps_by_it(void)
{
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -3UL), SBI_SUCCESS);
	stub_run(INSTRS, 1);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 0);
	stub_emulate(true);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x10);
	assert_int_equal(guest_read(4), 0);
	stub_run(INSTRS, 10);
	stub_emulate(true);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(4), 11);
	/* A new start reports the next wrap. */
	assert_int_equal(stop(0x10, 0), SBI_SUCCESS);
	assert_int_equal(start(0x10, INIT, -1UL), SBI_SUCCESS);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 2);
}

static void test_wraps_by_it(void **state)
{
	wraps_by_it();
	setup_cheap(state);
	wraps_by_it();
}

/* The hart's own OF is pending, or late, when the instruction comes. */
static void test_wrap_just_before(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -3UL), SBI_SUCCESS);
	stub_count(INSTRS, 3);
	assert_true(stub.pending);
	stub_emulate(false);
	assert_false(stub.pending);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(4), 1);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 1);

	stub_setup(state);
	stub.quiet_flags = true;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -3UL), SBI_SUCCESS);
	stub_count(INSTRS, 3);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(4), 1);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(4), 2);
}

/* Two that share, one count apart: each is reported once, in its turn. */
static void sharers_wrap(void)
{
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, INSTRS), 18);
	assert_int_equal(start(0x10, INIT, -2UL), SBI_SUCCESS);
	assert_int_equal(start(1UL << 18, INIT, -3UL), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	stub_emulate(false);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x10);
	assert_int_equal(stub.lcofis, 1);
	stub_run(INSTRS, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x40010);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_read(4), 1);
	assert_int_equal(guest_read(18), 0);
	stub_run(INSTRS, 5);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_read(4), 7);
	assert_int_equal(guest_read(18), 6);
}

static void test_sharers_wrap(void **state)
{
	sharers_wrap();
	setup_cheap(state);
	sharers_wrap();
}

/* Two counters that wrap by the same instruction raise one interrupt. */
static void test_two_events_wrap(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x18, INIT, -1UL), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x18);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(guest_read(4), 0);
}

static void test_narrow(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.width = 8;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, 0xfe), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 0xff);
	assert_int_equal(stub.lcofis, 0);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stub.lcofis, 1);
}

/* A counter of a VM without overflow interrupts wraps silently. */
static void test_silent_wrap(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.overflow = false;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -1UL), SBI_SUCCESS);
	stub_emulate(false);
	assert_int_equal(guest_read(4), 0);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
}

/* The hart refuses the start that is needed: the counter is lost, not wrong. */
static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -5UL), SBI_SUCCESS);
	stub.fail_start = 0x10;
	stub_emulate(false);
	assert_true(guest_read_is_illegal(4));
	assert_int_equal(stop(0x10, 0), SBI_ERR_ALREADY_STOPPED);
	stub.fail_start = 0;
	assert_int_equal(start(0x10, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(start(0x10, INIT, -4UL), SBI_SUCCESS);
	assert_int_equal(guest_read(4), -4UL);
}

/*
 * The overflow of another hctr is pending while an armed one is set for an emulated instruction.
 * The counter that shares with the one that overflowed is reported later, in its turn.
 */
static void test_pending_overflow_of_another(void **state)
{
	uint64_t sharer;

	(void)state;
	assert_int_equal(config(HW, CLEAR, INSTRS), 4);
	assert_int_equal(config(HW, CLEAR, DTLB), 5);
	sharer = 1UL << config(HW, CLEAR, DTLB);
	assert_int_equal(start(1UL << 4, INIT, -1000UL), 0);
	assert_int_equal(start(1UL << 5, INIT, -5UL), 0);
	assert_int_equal(start(sharer, INIT, -8UL), 0);
	stub_count(DTLB, 5);
	assert_true(stub.pending);
	stub_emulate(false);
	assert_int_equal(vpmu_scountovf(&vpmu), 1UL << 5);
	assert_int_equal(stub.lcofis, 1);
	stub_count(DTLB, 3);
	assert_true(stub.pending);
	vpmu_overflow(&vpmu);
	assert_int_equal(vpmu_scountovf(&vpmu), 1UL << 5 | sharer);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_read(4), -999UL);
}

/* Instructions that read. */
#define READER 0x6f
#define OTHER  0x70

/* A read by VS that traps, as core/dispatch/virtual_insn.c serves it. */
static uint64_t trapped_read(uint64_t n)
{
	uint64_t counts;
	uint64_t value;
	uint64_t left;

	assert_true(vpmu_runs(&vpmu, n));
	if (vpmu_read_cached(&vpmu, n, READER, &counts))
		left = vpmu_retired_cached(&vpmu, n, counts, &value);
	else
		left = vpmu_retired_read(&vpmu, n, READER, &value);
	if (left == 0)
		return value;
	vpmu_retired_slow(&vpmu, left);
	return vpmu_csr_value(&vpmu, n);
}

static bool is_noted(uint64_t n)
{
	uint64_t counts;

	return vpmu_read_cached(&vpmu, n, READER, &counts);
}

/* Likewise of scountovf: hctrs that did not go on, which are none here. */
static uint64_t trapped_scountovf(void)
{
	uint64_t counts;

	if (vpmu_scountovf_cached(&vpmu, READER, &counts))
		return vpmu_step_cached(&vpmu, counts);
	return vpmu_retired_scountovf(&vpmu, READER);
}

/* The hctrs that count a read are recorded, and dropped when anything that they depend on
 * changes. */
static void noted_reads(void)
{
	uint64_t counts;

	assert_int_equal(config(HW, AUTO, CYCLES), 3);
	assert_int_equal(config(HW, AUTO, INSTRS), 4);
	stub_count(INSTRS, 100);
	assert_int_equal(config(1U << 10, AUTO, CYCLES), 10);
	assert_false(is_noted(10));
	assert_int_equal(trapped_read(10), 1);
	assert_true(is_noted(10));
	/* Of another instruction it is not known that it reads, nor who executes it. */
	assert_false(vpmu_read_cached(&vpmu, 10, OTHER, &counts));
	assert_false(vpmu_read_cached(&vpmu, 3, READER, &counts));
	assert_int_equal(trapped_read(10), 2);
	assert_int_equal(trapped_read(3), 3);
	assert_int_equal(trapped_read(4), 104);
	/* Scountovf is read, which counts as often. */
	assert_int_equal(trapped_scountovf(), 0);
	assert_true(vpmu_scountovf_cached(&vpmu, READER, &counts));
	assert_false(vpmu_scountovf_cached(&vpmu, OTHER, &counts));
	assert_int_equal(trapped_scountovf(), 0);
	assert_int_equal(trapped_read(3), 7);
	assert_int_equal(trapped_read(4), 108);
	/* The same two hctrs, but the counter is now on the other one. */
	assert_int_equal(stop(1U << 10, RESET), SBI_SUCCESS);
	assert_int_equal(config(1U << 10, AUTO | CLEAR, INSTRS), 10);
	assert_false(is_noted(10));
	assert_int_equal(trapped_read(10), 1);
	assert_int_equal(trapped_read(10), 2);
	/* One hctr less counts a read. */
	assert_int_equal(stop(1U << 3, 0), SBI_SUCCESS);
	assert_false(is_noted(10));
	assert_int_equal(trapped_read(10), 3);
	assert_int_equal(guest_read(3), 10);
	/* One that does not count its own read. */
	assert_int_equal(config(HW, AUTO, DTLB), 5);
	assert_int_equal(trapped_read(5), 0);
	assert_false(is_noted(5));
	assert_int_equal(trapped_scountovf(), 0);
	assert_true(vpmu_scountovf_cached(&vpmu, READER, &counts));
	assert_false(vpmu_scountovf_cached(&vpmu, OTHER, &counts));
	assert_int_equal(trapped_scountovf(), 0);
	assert_int_equal(guest_read(10), 6);
	assert_int_equal(stop(1U << 10 | 1U << 4, 0), SBI_SUCCESS);
	/* Nothing counts it, which is not recorded. */
	assert_int_equal(trapped_scountovf(), 0);
	assert_false(vpmu_scountovf_cached(&vpmu, READER, &counts));
	assert_int_equal(guest_read(10), 6);
	assert_int_equal(guest_read(4), 114);
}

static void test_noted_reads(void **state)
{
	noted_reads();
	setup_cheap(state);
	noted_reads();
}

int test_vpmu_retired(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_pending_overflow_of_another, stub_setup),
	    cmocka_unit_test_setup(test_noted_reads, stub_setup),
	    cmocka_unit_test_setup(test_slow, stub_setup),
	    cmocka_unit_test_setup(test_fast, setup_cheap),
	    cmocka_unit_test_setup(test_fast_trapped, stub_setup),
	    cmocka_unit_test_setup(test_filters, stub_setup),
	    cmocka_unit_test_setup(test_not_running, stub_setup),
	    cmocka_unit_test_setup(test_reconfigured, stub_setup),
	    cmocka_unit_test_setup(test_shared, stub_setup),
	    cmocka_unit_test_setup(test_armed, stub_setup),
	    cmocka_unit_test_setup(test_wraps_by_it, stub_setup),
	    cmocka_unit_test_setup(test_wrap_just_before, stub_setup),
	    cmocka_unit_test_setup(test_sharers_wrap, stub_setup),
	    cmocka_unit_test_setup(test_two_events_wrap, stub_setup),
	    cmocka_unit_test_setup(test_narrow, stub_setup),
	    cmocka_unit_test_setup(test_silent_wrap, stub_setup),
	    cmocka_unit_test_setup(test_refused, stub_setup),
	};

	return cmocka_run_group_tests_name("vpmu: emulated instructions", tests, NULL, NULL);
}
