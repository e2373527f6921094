/* SPDX-License-Identifier: Apache-2.0 */
/* The second filter of an event, on a fixed counter. */
#include "tests/host/vpmu_stub.h"

#include "vpmu/tally_events.h"

#define HS_INSNS FW(TALLY_EVENT_HS_INSTRUCTIONS)
#define NEVER    UINT64_MAX

static int setup(void **state)
{
	stub_setup(state);
	stub.filters = true;
	return 0;
}

/* Both filters of instructions: counter 4 counts VU, counter 2 counts VS. */
static void configure_both(void)
{
	assert_int_equal(config(HW, CLEAR | SINH, INSTRS), 4);
	assert_int_equal(config(HW, CLEAR | UINH, INSTRS), 2);
}

static void test_two_filters_count(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(0x14, INIT, 100), 0);
	stub_count(INSTRS, 7);
	stub_count_vu(INSTRS, 20);
	assert_true(guest_reads_direct(2) && guest_reads_direct(4));
	assert_int_equal(guest_read(2), 107);
	assert_int_equal(guest_read(4), 120);
	assert_int_equal(stub.polling, 0);
	assert_int_equal(stop(0x14, 0), 0);
	/* HS counts with it again, so the hardware does not hold the value. */
	assert_int_equal(stub.released, 1);
	assert_false(guest_reads_direct(2));
	assert_int_equal(guest_read(2), 107);
	assert_int_equal(guest_read(4), 120);
	assert_int_equal(start(4, 0, 0), 0);
	stub_count(INSTRS, 3);
	assert_int_equal(guest_read(2), 110);
}

static void test_cycles_too(void **state)
{
	(void)state;
	assert_int_equal(config(HW, CLEAR, CYCLES), 3);
	assert_int_equal(config(HW, CLEAR | UINH, CYCLES), 0);
	assert_int_equal(start(9, INIT, 0), 0);
	stub_count(CYCLES, 5);
	stub_count_vu(CYCLES, 6);
	assert_int_equal(guest_read(3), 11);
	assert_int_equal(guest_read(0), 5);
}

static void test_third_filter_is_refused(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(config_error(HW, 0, INSTRS), -2);
	/* The same filter again shares, also on the fixed one. */
	assert_int_equal(config(HW, CLEAR | UINH, INSTRS), 18);
	assert_int_equal(start(0x40004, INIT, 0), 0);
	stub_count(INSTRS, 9);
	assert_int_equal(guest_read(2), 9);
	assert_int_equal(guest_read(18), 9);
	/* The home counter is assigned before the fixed one. */
	assert_int_equal(stop(0x40014, RESET), -8);
	assert_int_equal(config(HW, UINH, INSTRS), 4);
}

static void test_without_filters(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	stub.filters = false;
	assert_int_equal(config(HW, SINH, INSTRS), 4);
	assert_int_equal(config_error(HW, UINH, INSTRS), -2);
	/* Nor if HS is counted, or the VM does not have the fixed counter. */
	policy.count_hs = true;
	stub_setup_policy(&policy);
	stub.filters = true;
	assert_int_equal(config(HW, SINH, INSTRS), 4);
	assert_int_equal(config_error(HW, UINH, INSTRS), -2);
	policy.count_hs = false;
	policy.hctrs &= ~4UL;
	stub_setup_policy(&policy);
	stub.filters = true;
	assert_int_equal(config(HW & ~4UL, SINH, INSTRS), 4);
	assert_int_equal(config_error(HW & ~4UL, UINH, INSTRS), -2);
}

static void test_counter_of_another_index(void **state)
{
	(void)state;
	assert_int_equal(config(HW, CLEAR | SINH, INSTRS), 4);
	assert_int_equal(config(HW & ~4UL, CLEAR | UINH, INSTRS), 18);
	assert_int_equal(start(0x40000, INIT, 50), 0);
	stub_count(INSTRS, 8);
	assert_false(guest_reads_direct(18));
	assert_int_equal(guest_read(18), 58);
}

static void test_hs_clock(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.n_tally_events = TALLY_EVENTS;
	stub_setup_policy(&policy);
	stub.filters = true;
	/* A vcpu that counts HS instructions leaves instret to HS. */
	assert_int_equal(config(FWS, 0, HS_INSNS), 19);
	assert_int_equal(config(HW, SINH, INSTRS), 4);
	assert_int_equal(config_error(HW, UINH, INSTRS), -2);
	assert_int_equal(config(HW, SINH, CYCLES), 3);
	assert_int_equal(config(HW, UINH, CYCLES), 0);
	/* And the other way round. */
	assert_int_equal(stop(0x80000, RESET), -8);
	assert_int_equal(config(HW, UINH, INSTRS), 2);
	assert_int_equal(config_error(FWS, 0, HS_INSNS), -2);
	assert_int_equal(config_error(FWS, 0, FW(TALLY_EVENT_LONGEST_STAY)), -2);
	assert_int_equal(config(FWS, 0, FW(TALLY_EVENT_EXITS)), 19);
	assert_int_equal(stop(4, RESET), -8);
	assert_int_equal(config(FWS, 0, HS_INSNS), 20);
}

static void test_overflow(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(0x14, INIT, -100UL), 0);
	/* The home counter raises its own interrupt. */
	assert_int_equal(stub.polls_after, 100);
	stub_count(INSTRS, 99);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 0);
	assert_int_equal(stub.polls_after, 1);
	stub_count(INSTRS, 31);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 4);
	assert_int_equal(guest_read(2), 30);
	/* Reported once, and not polled any more. */
	assert_int_equal(stub.polling, 2);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	stub_count_vu(INSTRS, 100);
	assert_true(stub.pending);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x14);
	/* The next start clears OF, and requests a poll. */
	assert_int_equal(stop(4, 0), 0);
	assert_int_equal(start(4, INIT, -10UL), 0);
	assert_int_equal(vpmu_scountovf(&vpmu), 0x10);
	assert_int_equal(stub.polls_after, 10);
}

static void test_stop_finds_the_wrap(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(4, INIT, -100UL), 0);
	stub_count(INSTRS, 100);
	assert_int_equal(stop(4, 0), 0);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 4);
	assert_int_equal(stub.polls_after, NEVER);
	assert_int_equal(stop(4, RESET), -8);
	assert_int_equal(vpmu_scountovf(&vpmu), 0);
}

static void test_nearest_of_two(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(config(HW, CLEAR | SINH, CYCLES), 3);
	assert_int_equal(config(HW, CLEAR | UINH, CYCLES), 0);
	assert_int_equal(start(4, INIT, -1000UL), 0);
	stub_count(INSTRS, 400);
	/* What the other one has counted meanwhile is included. */
	assert_int_equal(start(1, INIT, -700UL), 0);
	assert_int_equal(stub.polls_after, 600);
	assert_int_equal(stop(4, 0), 0);
	assert_int_equal(stub.polls_after, 700);
	assert_int_equal(stop(1, 0), 0);
	assert_int_equal(stub.polls_after, NEVER);
	assert_int_equal(stub.lcofis, 0);
}

static void test_switch(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(0x14, INIT, -100UL), 0);
	stub_count(INSTRS, 60);
	vpmu_save(&vpmu);
	assert_int_equal(stub.released, 1);
	assert_int_equal(stub.polls_after, NEVER);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_int_equal(stub.polls_after, 40);
	assert_true(guest_reads_direct(2));
	assert_int_equal(guest_read(2), -40UL);
	stub_count(INSTRS, 50);
	/* It is reported before another vcpu runs on the hart. */
	vpmu_save(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	vpmu_restore(&vpmu);
	assert_int_equal(vpmu_scountovf(&vpmu), 4);
	assert_int_equal(guest_read(2), 10);
	assert_int_equal(stub.lcofis, 1);
}

static void test_reset(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(0x14, INIT, -100UL), 0);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.released, 1);
	assert_int_equal(stub.polls_after, NEVER);
	assert_int_equal(stub.direct, 0);
	configure_both();
}

static void test_emulated_instruction(void **state)
{
	(void)state;
	configure_both();
	assert_int_equal(start(4, INIT, -2UL), 0);
	stub_emulate(false);
	assert_int_equal(guest_read(2), -1UL);
	assert_int_equal(stub.lcofis, 0);
	stub_emulate(true);
	stub_emulate(false);
	assert_int_equal(guest_read(2), 0);
	assert_int_equal(stub.lcofis, 1);
}

static void test_narrow(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.width = 40;
	stub_setup_policy(&policy);
	stub.filters = true;
	configure_both();
	assert_int_equal(start(4, INIT, 0), 0);
	/* A full round would look like no progress. */
	assert_int_equal(stub.polls_after, 1UL << 39);
	stub_count(INSTRS, 1UL << 39);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 0);
	stub_count(INSTRS, 1UL << 39);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_read(2), 0);
}

static void test_refused_start_gives_it_back(void **state)
{
	(void)state;
	configure_both();
	stub.fail_start = 4;
	assert_int_equal(start(4, INIT, -100UL), -1);
	assert_int_equal(stub.released, 1);
	assert_true(guest_read_is_illegal(2));
	stub.fail_start = 0;
	assert_int_equal(start(4, INIT, -100UL), 0);
	assert_int_equal(guest_read(2), -100UL);
}

static void test_refused_auto_start_keeps_it(void **state)
{
	(void)state;
	assert_int_equal(config(HW, CLEAR | SINH, INSTRS), 4);
	assert_int_equal(config(1UL << 18, CLEAR | UINH, INSTRS), 18);
	assert_int_equal(start(1UL << 18, INIT, -100UL), 0);
	assert_int_equal(stop(1UL << 18, 0), 0);
	assert_int_equal(config(1UL << 17, 0, DTLB), 17);
	stub_away();
	stub.refuse_prepare = 1UL << 5;
	assert_int_equal(config_error(1UL << 18, AUTO, DTLB), -2);
	stub.refuse_prepare = 0;
	assert_int_equal(start(1UL << 18, 0, 0), 0);
	assert_int_equal(stub.polls_after, 100);
	stub_count(INSTRS, 3);
	assert_int_equal(guest_read(18), -97UL);
	assert_int_equal(stop(1UL << 18, 0), 0);
	assert_int_equal(stub.released, 2);
}

/* A programmable counter whose event raises no overflow interrupt is polled in the same way. */
static void test_polled_cache_event(void **state)
{
	struct vpmu_policy policy = stub_policy;
	uint64_t set;
	uint32_t idx;

	(void)state;
	policy.polled_cache = true;
	stub_setup_policy(&policy);
	idx = (uint32_t)config(HW, CLEAR, DTLB);
	set = 1UL << idx;
	assert_int_equal(start(set, INIT, -100UL), 0);
	assert_int_equal(stub.polls_after, 100);
	stub_count(DTLB, 60);
	/* A stop of another counter does not change that. */
	assert_int_equal(config(HW, CLEAR, INSTRS), 4);
	assert_int_equal(start(0x10, INIT, -1000UL), 0);
	assert_int_equal(stop(0x10, 0), 0);
	vpmu_save(&vpmu);
	assert_int_equal(stub.polls_after, NEVER);
	stub_neighbour();
	vpmu_restore(&vpmu);
	assert_int_equal(stub.polls_after, 40);
	stub_count(DTLB, 45);
	stub.pending = false;
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), set);
	assert_int_equal(guest_read(idx), 5);
	/* A stop finds a wrap first, and a start far from the wrap requests no poll. */
	assert_int_equal(stop(set, 0), 0);
	assert_int_equal(start(set, INIT, -10UL), 0);
	stub_count(DTLB, 10);
	stub.pending = false;
	assert_int_equal(stop(set, 0), 0);
	assert_int_equal(stub.lcofis, 2);
	vpmu_poll(&vpmu);
	stub.polling = 0;
	assert_int_equal(start(set, INIT, 0), 0);
	assert_int_equal(stub.polling, 0);
	/* A VM that ends requests none. */
	assert_int_equal(stop(set, 0), 0);
	assert_int_equal(start(set, INIT, -10UL), 0);
	assert_int_equal(stub.polls_after, 10);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.polls_after, NEVER);
}

int test_vpmu_fixed(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_two_filters_count, setup),
	    cmocka_unit_test_setup(test_cycles_too, setup),
	    cmocka_unit_test_setup(test_third_filter_is_refused, setup),
	    cmocka_unit_test_setup(test_without_filters, setup),
	    cmocka_unit_test_setup(test_counter_of_another_index, setup),
	    cmocka_unit_test_setup(test_hs_clock, setup),
	    cmocka_unit_test_setup(test_overflow, setup),
	    cmocka_unit_test_setup(test_stop_finds_the_wrap, setup),
	    cmocka_unit_test_setup(test_nearest_of_two, setup),
	    cmocka_unit_test_setup(test_switch, setup),
	    cmocka_unit_test_setup(test_reset, setup),
	    cmocka_unit_test_setup(test_emulated_instruction, setup),
	    cmocka_unit_test_setup(test_polled_cache_event, setup),
	    cmocka_unit_test_setup(test_narrow, setup),
	    cmocka_unit_test_setup(test_refused_start_gives_it_back, setup),
	    cmocka_unit_test_setup(test_refused_auto_start_keeps_it, setup),
	};

	return cmocka_run_group_tests_name("vpmu: fixed counters", tests, NULL, NULL);
}
