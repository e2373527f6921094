/* SPDX-License-Identifier: Apache-2.0 */
/* OF bits that the guest reads in the hart's scountovf, where the hart hides those of counters that
 * are not open: each is the guest's own, and the counter has its value there. */
#include "tests/host/vpmu_stub.h"

#include "vpmu/observe.h"
#include "vpmu/retired.h"
#include "vpmu/shown.h"

#define A   (1UL << 3)
#define I   (1UL << 4)
#define D   (1UL << 5)
#define B   (1UL << 18)
#define FAR 0x8000000000000001UL /* Linux starts each counting event there */

/* As the last step before the guest. */
static void show_flags(void)
{
	bool closed;

	while (!vpmu_show_flags(&vpmu, true, &closed))
		;
}

static void setup_width(uint32_t width)
{
	struct vpmu_policy policy = stub_policy;

	policy.shows_flags = true;
	policy.width = width;
	stub_setup_policy(&policy);
}

static int setup(void **state)
{
	(void)state;
	setup_width(64);
	return 0;
}

/* Cycles on counter 3, started so many counts before its wrap. */
static void start_cycles(uint64_t counts)
{
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, (0 - counts) & stub.width_mask), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_reads_direct(3));
}

static void overflow_cycles(void)
{
	start_cycles(10);
	stub_run(CYCLES, 10);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_sees(), A);
}

static void assert_shows(uint64_t flags, uint64_t cycles)
{
	assert_int_equal(guest_sees(), flags);
	assert_int_equal(guest_read(3), cycles);
	assert_int_equal(vpmu_scountovf(&vpmu), flags);
	if ((flags & A) != 0)
		assert_true(guest_reads_direct(3));
}

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

static void leave_and_come_back(bool neighbour)
{
	stub_leave();
	if (neighbour)
		stub_neighbour();
	stub_come_back();
}

/* The handler comes later, on both kinds of firmware, used by others meanwhile or not. */
static void test_leaves_before_the_handler(void **state)
{
	uint32_t kind;

	for (kind = 0; kind < 4; kind++) {
		setup(state);
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
		setup(state);
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
		uint64_t left = vpmu_read_noted(&vpmu, 3, 1, &counts)
		                    ? vpmu_retired_noted(&vpmu, 3, counts, &value)
		                    : vpmu_retired_read(&vpmu, 3, 1, &value);

		if (left != 0)
			vpmu_retired_slow(&vpmu, left);
		assert_shows(i < 4 ? 0 : A, i - 4UL);
		if (vpmu_scountovf_noted(&vpmu, 2, &counts))
			left = vpmu_retired_scountovf_noted(&vpmu, counts);
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
	unsigned long again;

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

static void test_auto_start_near(void **state)
{
	(void)state;
	start_cycles(10);
	stub_count(CYCLES, 4);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(A, AUTO, CYCLES), 3);
	assert_shows(0, -6UL);
	stub_run(CYCLES, 6);
	assert_shows(A, 0);
	/* Another counter of the event could not be shown, so it is not started, and is as before:
	 * not configured, */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	assert_int_equal(config(B, 0, CYCLES), 18);
	assert_int_equal(start(B, INIT, FAR), SBI_SUCCESS);
	assert_int_equal(stop(B, 0), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(A, 0, INSTRS), 3);
	assert_int_equal(start(A, INIT, -9UL), SBI_ERR_FAILED);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
}

/* It would share its counter of the hart, or have one of another index. */
static void test_auto_start_near_is_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -7UL), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, AUTO | CLEAR, CYCLES), 18);
	stub_count(CYCLES, 5);
	/* Counter 3 keeps configuration, value and OF. */
	assert_int_equal(config_error(A, AUTO, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_shows(0, -7UL);
	assert_int_equal(guest_read(18), 5);
	assert_int_equal(config(A, AUTO | CLEAR, CYCLES), 3);
	stub_count(CYCLES, 2);
	assert_int_equal(guest_read(3), 2);
	assert_int_equal(guest_read(18), 7);
}

/* It keeps OF that the guest sees, too. */
static void test_auto_start_refused_keeps_of(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_away();
	assert_shows(A, 0);
	stub.refuse_prepare = I;
	assert_int_equal(config_error(A, AUTO, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
	stub.refuse_prepare = D;
	assert_int_equal(config_error(A, AUTO, DTLB), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
}

static void test_second_counter_near_is_refused(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(B, INIT, 7), SBI_SUCCESS);
	assert_int_equal(stop(B, 0), SBI_SUCCESS);
	assert_int_equal(start(B, INIT, -10UL), SBI_ERR_FAILED);
	assert_int_equal(guest_read(18), 7);
	assert_int_equal(stop(B, 0), SBI_ERR_ALREADY_STOPPED);
	/* Nor can the first one be, while there is a second. */
	assert_int_equal(start(A, INIT, -10UL), SBI_ERR_FAILED);
	/* Far from the wrap both count. */
	assert_int_equal(start(A | B, INIT, FAR), SBI_SUCCESS);
	stub_count(CYCLES, 30);
	assert_int_equal(guest_read(3), FAR + 30);
	assert_int_equal(guest_read(18), FAR + 30);
	assert_int_equal(stop(A | B, 0), SBI_SUCCESS);
	/* One that can is started beside one that cannot. */
	assert_int_equal(start(B | I, INIT, -10UL), SBI_ERR_FAILED);
	stub_run(INSTRS, 12);
	assert_int_equal(guest_sees(), I);
	assert_int_equal(guest_read(4), 2);
	assert_int_equal(guest_read(18), FAR + 30);
	/* The second one gone, the first can. */
	assert_int_equal(stop(B, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(start(A, INIT, -10UL), SBI_SUCCESS);
	stub_run(CYCLES, 10);
	assert_shows(A | I, 0);
}

/* Kept values and those of a snapshot are looked at, too. */
static void test_second_counter_by_value(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.snapshot = true;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_snapshot_set_shmem(&vpmu, RAM_BASE, 0, 0).error, SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -20UL), SBI_SUCCESS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(start(A, 0, 0), SBI_ERR_FAILED);
	assert_int_equal(guest_read(3), -20UL);
	poke64(RAM_BASE + 8 + 8 * 18UL, -3UL);
	assert_int_equal(start(B, SEED, 0), SBI_ERR_FAILED);
	poke64(RAM_BASE + 8 + 8 * 18UL, 3);
	assert_int_equal(start(B, SEED, 0), SBI_SUCCESS);
	stub_count(CYCLES, 1);
	assert_int_equal(guest_read(18), 4);
}

/* Another vcpu of the VM may write it at any time. */
static void test_snapshot_is_read_once(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.snapshot = true;
	stub_setup_policy(&policy);
	assert_int_equal(vpmu_snapshot_set_shmem(&vpmu, RAM_BASE, 0, 0).error, SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	poke64(RAM_BASE + 8 + 8 * 3, 77);
	poke64(RAM_BASE + 8 + 8 * 4, -2UL);
	poke64(RAM_BASE + 8 + 8 * 18UL, -2UL);
	poke64(RAM_BASE + 8 + 8 * 19UL, 9);
	ram_forget();
	assert_int_equal(start(A | I | B | 1UL << 19, SEED, 0), SBI_ERR_FAILED);
	assert_int_equal(ram_bytes_read(), 4 * 8);
	stub_run(INSTRS, 2);
	assert_int_equal(guest_sees(), I);
	assert_int_equal(guest_read(3), 77);
	assert_int_equal(guest_read(18), 0);
	assert_int_equal(fw_read(19), 9);
}

/* While its OF is shown, or will be, no other counter can be beside it. */
static void test_no_second_counter_beside_it(void **state)
{
	(void)state;
	start_cycles(10);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	stub_run(CYCLES, 10);
	assert_shows(A, 0);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(config_error(HW & ~A, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_shows(A, 0);
	assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	/* Where others can count the event, they do. */
	setup(state);
	stub.any_hctr = true;
	start_cycles(10);
	assert_int_equal(config(HW, 0, CYCLES), 4);
	assert_int_equal(start(I, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(guest_sees(), I);
	stub_run(CYCLES, 5);
	assert_shows(A | I, 0);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
	assert_int_equal(guest_read(4), 5);
}

/* Counters that share are not moved by overflows of others. */
static void test_sharers_beside(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, CYCLES), 18);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(A, INIT, 100), SBI_SUCCESS);
	stub_count(CYCLES, 1);
	assert_int_equal(start(B, INIT, 5), SBI_SUCCESS);
	assert_int_equal(start(I, INIT, -4UL), SBI_SUCCESS);
	stub_count(CYCLES, 4);
	stub_run(INSTRS, 4);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), I);
	stub_count(CYCLES, 4);
	assert_int_equal(guest_read(3), 109);
	assert_int_equal(guest_read(18), 13);
}

/* cycle and instret have no bit in scountovf. */
static void test_without_a_bit(void **state)
{
	(void)state;
	assert_int_equal(config(1, 0, CYCLES), 0);
	assert_int_equal(start(1, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 1);
	assert_int_equal(guest_sees(), 0);
	/* Counter 3 counts on the same one of the hart. */
	assert_int_equal(config(HW & ~1UL, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 10), SBI_SUCCESS);
	assert_int_equal(stop(1, 0), SBI_SUCCESS);
	assert_int_equal(start(1, INIT, -5UL), SBI_SUCCESS);
	stub_run(CYCLES, 5);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(3), 15);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(3), 15);
	assert_int_equal(guest_read(0), 0);
}

static void test_near_start_ends_observers(void **state)
{
	(void)state;
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVES);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	stub_count(CYCLES, 9);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	stub_count(CYCLES, 2);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(guest_read(3), 7);
	assert_int_equal(stub.unobserved, 0);
	assert_int_equal(start(A, INIT, -6UL), SBI_SUCCESS);
	assert_int_equal(stub.unobserved, 1);
	assert_int_equal(stub.unobserved_value, 11);
	stub_run(CYCLES, 6);
	assert_shows(A, 0);
	/* None can be where it would hide the guest's OF. */
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_GUESTS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 100), VPMU_OBSERVE_GUESTS);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVE_GUESTS);
	assert_shows(A, 0);
	assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 0), VPMU_OBSERVES);
}

/* An overflow of an observer's is not the guest's. */
static void test_samples_beside(void **state)
{
	(void)state;
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, 5), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, CYCLES, 0, 0, 10), VPMU_OBSERVES);
	stub_run(CYCLES, 35);
	assert_int_equal(stub.samples[0], 3);
	assert_shows(0, 40);
	/* One that pends while the guest starts near its wrap. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_count(CYCLES, 5);
	assert_true(stub.pending);
	assert_int_equal(start(A, INIT, -5UL), SBI_SUCCESS);
	assert_int_equal(stub.samples[0], 4);
	assert_int_equal(stub.unobserved, 1);
	stub_run(CYCLES, 5);
	assert_shows(A, 0);
	assert_int_equal(stub.lcofis, 1);
}

/* Zero is near the wrap of such counters, too. */
static void test_narrow(void **state)
{
	static const uint32_t widths[] = {40, 48};
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		setup_width(widths[i]);
		overflow_cycles();
		leave_and_come_back(true);
		assert_shows(A, 0);
		assert_int_equal(stop(A, 0), SBI_SUCCESS);
		assert_int_equal(start(A, INIT, 0), SBI_SUCCESS);
		stub_count(CYCLES, (1UL << (widths[i] - 1)) + 5);
		leave_and_come_back(true);
		assert_shows(0, (1UL << (widths[i] - 1)) + 5);
		stub_count(CYCLES, 1UL << (widths[i] - 1));
		assert_true(stub.pending);
		vpmu_overflow(&vpmu);
		assert_shows(A, 5);
		leave_and_come_back(true);
		assert_shows(A, 5);
		assert_int_equal(stub.lcofis, 2);
	}
}

/* It is read without an exit, though others need it with OF = 1. */
static void test_far_start(void **state)
{
	(void)state;
	start_cycles(1UL << 63);
	assert_false(stub.hctr[3].flag);
	stub_count(CYCLES, 3);
	leave_and_come_back(true);
	assert_shows(0, (1UL << 63) + 3);
	assert_true(guest_reads_direct(3));
	assert_false(stub.hctr[3].flag);
	/* The same where OF of another is made. */
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -1UL), SBI_SUCCESS);
	stub_run(INSTRS, 1);
	leave_and_come_back(true);
	assert_shows(I, (1UL << 63) + 3);
	assert_true(guest_reads_direct(3));
	/* And after one of its own. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, -2UL), SBI_SUCCESS);
	stub_run(CYCLES, 2);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	/* The first time it may have OF = 1 in the hart, and is closed then. */
	assert_int_equal(start(A, INIT, FAR), SBI_SUCCESS);
	assert_shows(I, FAR);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, FAR), SBI_SUCCESS);
	assert_shows(I, FAR);
	assert_true(guest_reads_direct(3));
}

/* A counter whose OF cannot be made is lost, and never looks as if it had not overflowed. */
static void test_refused_while_it_runs(void **state)
{
	(void)state;
	overflow_cycles();
	stub_leave();
	stub_neighbour();
	stub.fail_start = A;
	stub_come_back();
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	stub.fail_start = 0;
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_run(CYCLES, 1);
	assert_shows(A, 0);
	/* While it is made: the hart's own comes late. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_emulate(false);
	assert_true(stub.show_due);
	stub.fail_start = A;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_false(stub.hctr[3].running);
}

static void stop_and_lose(uint64_t fail_start, uint64_t refuse_prepare)
{
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	stub_leave();
	stub_neighbour();
	stub_come_back();
	stub.fail_start = fail_start;
	stub.refuse_prepare = refuse_prepare;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	stub.fail_start = stub.refuse_prepare = 0;
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stop(A, 0), SBI_ERR_ALREADY_STOPPED);
	assert_true(guest_read_is_illegal(3));
}

static void test_refused_while_it_is_stopped(void **state)
{
	uint32_t kind;

	for (kind = 0; kind < 2; kind++) {
		setup(state);
		stop_and_lose(kind == 0 ? A : 0, kind == 0 ? 0 : A);
		assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
		stub_run(CYCLES, 1);
		assert_shows(A, 0);
	}
}

/* What was lost is gone with its configuration. */
static void test_reset_ends_the_loss(void **state)
{
	setup(state);
	stop_and_lose(A, 0);
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, CLEAR, CYCLES), 3);
	assert_int_equal(guest_read(3), 0);
	assert_int_equal(start(A, 0, 0), SBI_SUCCESS);
	stub_count(CYCLES, 3);
	assert_shows(0, 3);
}

/* The firmware's refusal is found afterwards. */
static void test_failed_while_it_is_stopped(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_failed(&vpmu, A);
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_read_is_illegal(3));
	assert_int_equal(stop(A, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, CLEAR | AUTO, CYCLES), 3);
	stub_count(CYCLES, 3);
	assert_shows(0, 3);
	/* Without an overflow nothing is lost. */
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_failed(&vpmu, A);
	assert_shows(0, 3);
	/* Nor where the guest sees no flags of the hart's. */
	stub_setup(state);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
	stub_run(CYCLES, 1);
	assert_int_equal(stop(A, 0), SBI_SUCCESS);
	vpmu_failed(&vpmu, A);
	assert_int_equal(guest_read(3), 0);
}

/* The hart must not count overflows of TLB events: OF is always 1, so the counter is closed until a
 * poll finds the wrap. */
static void test_polled(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, CLEAR, DTLB), 5);
	assert_int_equal(start(D, INIT, -100UL), SBI_SUCCESS);
	assert_true(stub.hctr[5].flag);
	assert_int_equal(guest_sees(), 0);
	assert_false(guest_reads_direct(5));
	assert_int_equal(stub.polls_after, 100);
	stub_count(DTLB, 60);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), 0);
	assert_int_equal(guest_read(5), -40UL);
	assert_int_equal(stub.polls_after, 40);
	stub_count(DTLB, 42);
	vpmu_poll(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_true(stub.show_due);
	assert_int_equal(guest_sees(), D);
	assert_true(guest_reads_direct(5));
	assert_int_equal(guest_read(5), 2);
	leave_and_come_back(true);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(guest_read(5), 2);
	/* A stop finds it, too. */
	assert_int_equal(stop(D, 0), SBI_SUCCESS);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(start(D, INIT, -3UL), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	stub_count(DTLB, 4);
	assert_int_equal(stop(D, 0), SBI_SUCCESS);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(guest_sees(), D);
	assert_int_equal(guest_read(5), 1);
	assert_int_equal(start(D, INIT, 0), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	stub_count(DTLB, 4);
	assert_int_equal(guest_read(5), 4);
}

/* Its start shows nothing wrong, though another vcpu has left OF = 0 there. */
static void test_polled_after_a_neighbour(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.shows_flags = policy.polled_cache = true;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, CLEAR, DTLB), 5);
	stub_leave();
	stub_neighbour();
	stub.hctr[5].flag = false;
	stub_come_back();
	assert_int_equal(start(0, SEED, 0), SBI_ERR_NO_SHMEM);
	assert_int_equal(start(D, INIT, -5UL), SBI_SUCCESS);
	assert_true(stub.hctr[5].flag);
	assert_int_equal(guest_sees(), 0);
}

/* Two at once, and one that is found while another is made. */
static void test_found_while_one_is_made(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -2UL), SBI_SUCCESS);
	stub_leave();
	stub_neighbour();
	stub_come_back();
	stub_count(INSTRS, 2);
	assert_true(stub.pending);
	stub.hctr[3].flag = false;
	stub.show_due = false;
	show_flags();
	assert_int_equal(stub.lcofis, 2);
	assert_shows(A | I, 0);
	assert_int_equal(guest_read(4), 0);
	leave_and_come_back(true);
	assert_shows(A | I, 0);
}

/* Each takes so long that others have their turn in between. */
static void test_one_of_a_call(void **state)
{
	const uint64_t all[] = {CYCLES, INSTRS, DTLB};
	uint64_t value[3];
	uint32_t n;
	bool closed;

	(void)state;
	for (n = 0; n < 3; n++) {
		assert_int_equal(config(HW, 0, all[n]), 3 + n);
		assert_int_equal(start(A << n, INIT, -1UL), SBI_SUCCESS);
		stub_run(all[n], 1 + n);
	}
	assert_int_equal(stop(A | I | D, 0), SBI_SUCCESS);
	for (n = 0; n < 3; n++)
		value[n] = guest_read(3 + n);
	assert_false(vpmu_misses_flags(&vpmu));
	leave_and_come_back(true);
	assert_true(vpmu_misses_flags(&vpmu));
	stub.show_due = false;
	stub.prepares = 0;
	assert_false(vpmu_show_flags(&vpmu, false, &closed));
	assert_int_equal(stub.prepares, 0);
	for (n = 0; n < 3; n++) {
		/* The neighbour uses those that were made before. */
		if (n == 1)
			leave_and_come_back(true);
		stub.prepares = 0;
		assert_false(vpmu_show_flags(&vpmu, true, &closed));
		assert_int_equal(stub.prepares, 1);
	}
	show_flags();
	assert_false(vpmu_misses_flags(&vpmu));
	stub.prepares = 0;
	assert_int_equal(guest_sees(), A | I | D);
	assert_int_equal(stub.prepares, 0);
	for (n = 0; n < 3; n++)
		assert_int_equal(guest_read(3 + n), value[n]);
}

/* A hart that says that it has set OF, and has not. */
static void test_of_that_cannot_be_made(void **state)
{
	uint32_t stopped;

	for (stopped = 0; stopped < 2; stopped++) {
		setup(state);
		overflow_cycles();
		if (stopped)
			assert_int_equal(stop(A, 0), SBI_SUCCESS);
		leave_and_come_back(true);
		stub.clears_flags = true;
		assert_int_equal(guest_sees(), 0);
		assert_true(guest_read_is_illegal(3));
		assert_false(stub.hctr[3].running);
		stub.clears_flags = false;
		assert_int_equal(start(A, INIT, -1UL), SBI_SUCCESS);
		stub_run(CYCLES, 1);
		assert_shows(A, 0);
	}
}

/* A wrap of an armed counter that is not taken yet does not close it. */
static void test_pending_wrap_stays_open(void **state)
{
	(void)state;
	overflow_cycles();
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(start(I, INIT, -2UL), SBI_SUCCESS);
	stub_count(INSTRS, 2);
	show_flags();
	assert_true(guest_reads_direct(4));
	vpmu_overflow(&vpmu);
	assert_shows(A | I, 0);
	assert_int_equal(stub.lcofis, 2);
}

int test_vpmu_shown(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_in_place, setup),
	    cmocka_unit_test_setup(test_leaves_before_the_handler, setup),
	    cmocka_unit_test_setup(test_leaves_with_a_pending_lcofi, setup),
	    cmocka_unit_test_setup(test_overflow_while_one_is_made, setup),
	    cmocka_unit_test_setup(test_reset_drops_what_was_shown, setup),
	    cmocka_unit_test_setup(test_stopped_by_the_handler, setup),
	    cmocka_unit_test_setup(test_continues_from_its_value, setup),
	    cmocka_unit_test_setup(test_emulated_instruction_wraps, setup),
	    cmocka_unit_test_setup(test_emulated_instruction_after_the_wrap, setup),
	    cmocka_unit_test_setup(test_noted_reads_wrap, setup),
	    cmocka_unit_test_setup(test_late_flag, setup),
	    cmocka_unit_test_setup(test_lookup_evicts, setup),
	    cmocka_unit_test_setup(test_reset_and_configuration_clear, setup),
	    cmocka_unit_test_setup(test_vcpu_reset, setup),
	    cmocka_unit_test_setup(test_auto_start_near, setup),
	    cmocka_unit_test_setup(test_auto_start_near_is_refused, setup),
	    cmocka_unit_test_setup(test_auto_start_refused_keeps_of, setup),
	    cmocka_unit_test_setup(test_second_counter_near_is_refused, setup),
	    cmocka_unit_test_setup(test_second_counter_by_value, setup),
	    cmocka_unit_test_setup(test_snapshot_is_read_once, setup),
	    cmocka_unit_test_setup(test_no_second_counter_beside_it, setup),
	    cmocka_unit_test_setup(test_sharers_beside, setup),
	    cmocka_unit_test_setup(test_without_a_bit, setup),
	    cmocka_unit_test_setup(test_near_start_ends_observers, setup),
	    cmocka_unit_test_setup(test_samples_beside, setup),
	    cmocka_unit_test_setup(test_narrow, setup),
	    cmocka_unit_test_setup(test_far_start, setup),
	    cmocka_unit_test_setup(test_refused_while_it_runs, setup),
	    cmocka_unit_test_setup(test_refused_while_it_is_stopped, setup),
	    cmocka_unit_test_setup(test_reset_ends_the_loss, setup),
	    cmocka_unit_test_setup(test_failed_while_it_is_stopped, setup),
	    cmocka_unit_test_setup(test_polled, setup),
	    cmocka_unit_test_setup(test_polled_after_a_neighbour, setup),
	    cmocka_unit_test_setup(test_found_while_one_is_made, setup),
	    cmocka_unit_test_setup(test_one_of_a_call, setup),
	    cmocka_unit_test_setup(test_of_that_cannot_be_made, setup),
	    cmocka_unit_test_setup(test_pending_wrap_stays_open, setup),
	};

	return cmocka_run_group_tests_name("vpmu: OF bits that the hart shows", tests, NULL, NULL);
}
