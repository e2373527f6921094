/* SPDX-License-Identifier: Apache-2.0 */
/* OF bits that the guest reads in the hart's scountovf, where the hart hides those of counters that
 * are not open: each is the guest's own, and the counter has its value there. */
#include "tests/host/vpmu_shown.h"

#include "vpmu/retired.h"

static void test_in_place(void **state)
{
	(void)state;
	start_cycles(10);
	stub.starts = stub.stops = stub.prepares = 0;
	stub_run(CYCLES, 25);
	assert_shows(A, 15);
	/* The hart has made it itself. */
	assert_int_equal(stub.starts + stub.stops + stub.prepares, 0);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_shows(A, 15);
	assert_int_equal(stub.starts + stub.prepares, 0);
	assert_int_equal(start(A, INIT, -3UL), SBI_SUCCESS);
	assert_shows(0, -3UL);
	stub_run(CYCLES, 2);
	assert_shows(0, -1UL);
	stub_run(CYCLES, 1);
	assert_shows(A, 0);
	assert_int_equal(stub.lcofis, 2);
}

/* The handler comes later, on both kinds of firmware, used by others meanwhile or not. */
static void test_leaves_before_the_handler(void **state)
{
	uint32_t kind;

	for (kind = 0; kind < 4; kind++) {
		shown_setup(state);
		stub.start_sets_flag = (kind & 1) != 0;
		overflow_cycles();
		leave_and_come_back((kind & 2) != 0);
		assert_shows(A, 0);
		stub_run(CYCLES, 7);
		assert_shows(A, 7);
		assert_int_equal(stub.lcofis, 1);
		leave_and_come_back((kind & 2) == 0);
		assert_shows(A, 7);
		assert_int_equal(start(A, 0, 0), SBI_ERR_ALREADY_STARTED);
		assert_int_equal(stop(A, 0), SBI_SUCCESS);
		assert_int_equal(start(A, INIT, -2UL), SBI_SUCCESS);
		assert_shows(0, -2UL);
		stub_run(CYCLES, 2);
		assert_shows(A, 0);
		assert_int_equal(stub.lcofis, 2);
	}
}

/* Nobody has taken the LCOFI: the switch finds the overflow. */
static void test_leaves_with_a_pending_lcofi(void **state)
{
	(void)state;
	start_cycles(10);
	stub_count(CYCLES, 12);
	assert_true(stub.pending);
	stub_leave();
	assert_int_equal(stub.lcofis, 1);
	stub_neighbour();
	stub_come_back();
	assert_shows(A, 2);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 1);
}

/* While one OF is made, another counter is found to have wrapped. */
static void test_overflow_while_one_is_made(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -10UL), SBI_SUCCESS);
	leave_and_come_back(true);
	stub_count(INSTRS, 12);
	assert_true(stub.pending);
	show_flags();
	stub.show_due = false;
	assert_shows(A | I, 0);
	assert_int_equal(guest_read(4), 2);
	assert_int_equal(stub.lcofis, 2);
}

/* After a RESET nothing takes the counter's OF for one that the guest is to see. */
static void test_reset_drops_what_was_shown(void **state)
{
	(void)state;
	assert_int_equal(config(1, 0, CYCLES), 0);
	assert_int_equal(start(1, INIT, -1000UL), SBI_SUCCESS);
	assert_int_equal(stop(1, RESET), SBI_SUCCESS);
	overflow_cycles();
	assert_int_equal(stop(A, RESET), SBI_SUCCESS);
	assert_int_equal(config(A, AUTO, CYCLES), 3);
	assert_int_equal(guest_sees(), 0);
	/* It shares with the one before, and is the anchor until it stops. */
	assert_int_equal(config(1, AUTO, CYCLES), 0);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(stop(1, 0), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
}

static void test_stopped_by_the_handler(void **state)
{
	uint32_t kind;

	for (kind = 0; kind < 4; kind++) {
		shown_setup(state);
		stub.start_sets_flag = (kind & 1) != 0;
		overflow_cycles();
		stub_count(CYCLES, 4);
		assert_int_equal(stop(A, 0), SBI_SUCCESS);
		stub.starts = stub.prepares = 0;
		leave_and_come_back((kind & 2) != 0);
		assert_shows(A, 4);
		assert_int_equal(stub.starts != 0, (kind & 2) != 0);
		assert_false(stub.hctr[3].running);
		stub_count(CYCLES, 100);
		assert_shows(A, 4);
		assert_int_equal(start(A, INIT, -5UL), SBI_SUCCESS);
		stub_run(CYCLES, 4);
		assert_shows(0, -1UL);
		stub_run(CYCLES, 1);
		assert_shows(A, 0);
	}
}

/* It continues from its own value, where OF had to be made. */
static void test_continues_from_its_value(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	leave_and_come_back(true);
	assert_shows(A, 0);
	assert_int_equal(start(A, 0, 0), SBI_SUCCESS);
	stub_run(CYCLES, 3);
	assert_shows(0, 3);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_shows(0, 3);
	assert_int_equal(stub.lcofis, 1);
}

static void test_emulated_instruction_wraps(void **state)
{
	(void)state;
	start_cycles(2);
	stub_emulate(false);
	assert_shows(0, -1UL);
	stub_emulate(false);
	assert_int_equal(stub.lcofis, 1);
	assert_shows(A, 0);
	/* It stays open, whatever else is emulated. */
	stub_emulate(true);
	assert_shows(A, 1);
	stub_run(CYCLES, 5);
	stub_emulate(false);
	assert_shows(A, 7);
	assert_int_equal(stub.lcofis, 1);
}

/* The overflow was the hart's, so nothing had to be made. */
static void test_emulated_instruction_after_the_wrap(void **state)
{
	(void)state;
	overflow_cycles();
	stub_emulate(false);
	assert_shows(A, 1);
	/* Others that count it need not be open. */
	assert_int_equal(config(HW, AUTO | CLEAR, INSTRS), 4);
	stub_emulate(false);
	assert_shows(A, 2);
	assert_int_equal(guest_read(4), 1);
	assert_false(guest_reads_direct(4));
}

/* The same by the paths of reads that are noted. */
static void test_noted_reads_wrap(void **state)
{
	uint64_t value = 0;
	uint32_t i;

	(void)state;
	start_cycles(4);
	for (i = 1; i < 8; i++) {
		uint64_t counts;
		uint64_t left = vpmu_read_cached(&vpmu, 3, 1, &counts)
		                    ? vpmu_retired_cached(&vpmu, 3, counts, &value)
		                    : vpmu_retired_read(&vpmu, 3, 1, &value);

		if (left != 0)
			vpmu_retired_slow(&vpmu, left);
		assert_shows(i < 4 ? 0 : A, i - 4UL);
		if (vpmu_scountovf_cached(&vpmu, 2, &counts))
			left = vpmu_step_cached(&vpmu, counts);
		else
			left = vpmu_retired_scountovf(&vpmu, 2);
		if (left != 0)
			vpmu_retired_slow(&vpmu, left);
		i++;
		assert_shows(i < 4 ? 0 : A, i - 4UL);
	}
	assert_int_equal(stub.lcofis, 1);
}

/* Wraps are found by the count before the hart sets OF: it is made then. */
static void test_late_flag(void **state)
{
	(void)state;
	start_cycles(10);
	stub.quiet_flags = true;
	stub_count(CYCLES, 12);
	assert_int_equal(stub.hctr[3].flag, false);
	leave_and_come_back(true);
	assert_int_equal(stub.lcofis, 1);
	assert_shows(A, 2);
	assert_true(stub.hctr[3].running);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, -10UL), SBI_SUCCESS);
	stub_count(CYCLES, 11);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(stub.lcofis, 2);
	assert_shows(A, 1);
	assert_false(stub.hctr[3].running);
}

/* A look-up destroys what counters hold that do not run. */
static void test_lookup_evicts(void **state)
{
	uint64_t again = 0;

	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub.asking_evicts = true;
	poke32(RAM_BASE, RAW);
	poke64(RAM_BASE + 8, 1);
	assert_int_equal(vpmu_event_get_info(&vpmu, RAM_BASE, 0, 1, 0, &again).error, SBI_SUCCESS);
	assert_true(stub.show_due);
	assert_shows(A, 0);
	/* A configuration asks as well. */
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, HW, 0, RAW, 2).error, SBI_SUCCESS);
	assert_shows(A, 0);
	/* Nothing is due where no OF was lost. */
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(vpmu_event_get_info(&vpmu, RAM_BASE, 0, 1, 0, &again).error, SBI_SUCCESS);
	assert_false(stub.show_due);
}

static void test_reset_and_configuration_clear(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, RESET), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	/* The hart's OF stays 1, so the counter is closed until it starts. */
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_shows(0, 0);
	assert_false(guest_reads_direct(3));
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	assert_true(guest_reads_direct(3));
	stub_run(CYCLES, 1);
	assert_shows(A, 0);
	/* Another event. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(A, 0, INSTRS), 3);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(config(A, AUTO, CYCLES), 3);
	stub_count(CYCLES, 5);
	assert_shows(0, 5);
}

/* The hart of the vcpu stops, and starts again. */
static void test_vcpu_reset(void **state)
{
	(void)state;
	overflow_cycles();
	vpmu_reset(&vpmu);
	assert_int_equal(guest_sees(), 0);
	stub_neighbour();
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(guest_sees(), 0);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_run(CYCLES, 1);
	assert_shows(A, 0);
}

int test_vpmu_shown(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_in_place, shown_setup),
	    cmocka_unit_test_setup(test_leaves_before_the_handler, shown_setup),
	    cmocka_unit_test_setup(test_leaves_with_a_pending_lcofi, shown_setup),
	    cmocka_unit_test_setup(test_overflow_while_one_is_made, shown_setup),
	    cmocka_unit_test_setup(test_reset_drops_what_was_shown, shown_setup),
	    cmocka_unit_test_setup(test_stopped_by_the_handler, shown_setup),
	    cmocka_unit_test_setup(test_continues_from_its_value, shown_setup),
	    cmocka_unit_test_setup(test_emulated_instruction_wraps, shown_setup),
	    cmocka_unit_test_setup(test_emulated_instruction_after_the_wrap, shown_setup),
	    cmocka_unit_test_setup(test_noted_reads_wrap, shown_setup),
	    cmocka_unit_test_setup(test_late_flag, shown_setup),
	    cmocka_unit_test_setup(test_lookup_evicts, shown_setup),
	    cmocka_unit_test_setup(test_reset_and_configuration_clear, shown_setup),
	    cmocka_unit_test_setup(test_vcpu_reset, shown_setup),
	};

	return cmocka_run_group_tests_name("vpmu: OF bits that the hart shows", tests, NULL, NULL);
}
