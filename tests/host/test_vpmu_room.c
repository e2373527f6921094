/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that several counters of the hart count: a request is granted if any assignment has a
 * counter for each event, and the events that move for it count on exactly.
 */
#include "tests/host/chance.h"
#include "tests/host/vpmu_stub.h"
#include "vpmu/observe.h"
#include "vpmu/retired.h"

#define STEPS    300000U
#define EVENTS   10U /* raw events 1 to EVENTS, with two filters each */
#define FIRST    3U
#define LAST     18U
#define HCTRS    8U /* 3 to 10 */
#define LCTRS_OK 0x7fff8UL

/* --- directed ------------------------------------------------------------------------- */

static void set_up(bool cheap)
{
	struct vpmu_policy policy = stub_policy;

	policy.moves = true;
	policy.cheap_moves = cheap;
	stub_setup_policy(&policy);
}

/* config_matching as often as it wants. */
static struct sbi_ret ask(unsigned long mask, unsigned long flags, uint64_t data,
                          unsigned int *calls)
{
	struct sbi_ret ret;

	ret = vpmu_counter_config_matching(&vpmu, 0, mask, flags, RAW, data);
	for (*calls = 1; ret.error == VPMU_AGAIN; ++*calls) {
		stub_settle();
		ret = vpmu_config_movable(&vpmu, 0, mask, flags, RAW, data);
	}
	return ret;
}

static unsigned long ask_for(unsigned long mask, uint64_t data)
{
	unsigned int calls = 0;
	struct sbi_ret ret = ask(mask, CLEAR, data, &calls);

	assert_int_equal(ret.error, SBI_SUCCESS);
	return ret.value;
}

/* Event 1 is on 3 of 3 and 4. Event 2 has only 3, so event 1 moves while it is counted. */
static void test_a_running_event_moves(void **state)
{
	(void)state;
	set_up(false);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	assert_int_equal(ask_for(1 << 3, 1), 3);
	assert_int_equal(start(1 << 3, INIT, 100), SBI_SUCCESS);
	stub_count_raw(1, 7);
	assert_true(guest_reads_direct(3));
	assert_int_equal(ask_for(1 << 5, 2), 5);
	assert_int_equal(start(1 << 5, INIT, 1000), SBI_SUCCESS);
	stub_count_raw(1, 8);
	stub_count_raw(2, 9);
	/* Counter 3 is on the hart's counter 4 now. */
	assert_false(guest_reads_direct(3));
	assert_int_equal(guest_read(3), 115);
	assert_int_equal(guest_read(5), 1009);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, 1 << 6, UINH, RAW, 2).error,
	                 SBI_ERR_NOT_SUPPORTED);
	/* Its registers are the guest's, and are looked at each time. */
	assert_int_equal(vpmu_config_movable(&vpmu, 64, 1, 0, RAW, 2).error, SBI_ERR_INVALID_PARAM);
}

/* The overflow of an event that moves is told once, at its place. */
static void test_an_armed_event_moves(void **state)
{
	(void)state;
	set_up(true);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	ask_for(1 << 3, 1);
	assert_int_equal(start(1 << 3, INIT, (uint64_t)-10), SBI_SUCCESS);
	stub_count_raw(1, 9);
	ask_for(1 << 5, 2);
	assert_int_equal(stub.lcofis, 0);
	stub_count_raw(1, 1);
	assert_true(stub.pending);
	vpmu_overflow(&vpmu);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 1 << 3);
	/* And while it is pending. */
	assert_int_equal(start(1 << 3, INIT, 0), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(stop(1 << 3, 0), SBI_SUCCESS);
	assert_int_equal(start(1 << 3, INIT, (uint64_t)-1), SBI_SUCCESS);
	assert_int_equal(stop(1 << 5, RESET), SBI_ERR_ALREADY_STOPPED);
	stub.raw_hctrs[2] = 0x10;
	stub_count_raw(1, 1);
	ask_for(1 << 5, 2);
	assert_int_equal(stub.lcofis, 2);
	assert_int_equal(vpmu_scountovf(&vpmu), 1 << 3);
	stub_count_raw(1, 3);
	assert_int_equal(guest_read(3), 3);
	assert_int_equal(stub.lcofis, 2);
}

/* The hart's OF bit may come late. The wrap is told before the move is over. */
static void test_a_wrap_before_a_move(void **state)
{
	(void)state;
	set_up(true);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	ask_for(1 << 3, 1);
	assert_int_equal(start(1 << 3, INIT, (uint64_t)-10), SBI_SUCCESS);
	stub.quiet_flags = true;
	stub_count_raw(1, 12);
	assert_int_equal(stub.lcofis, 0);
	ask_for(1 << 5, 2);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 1 << 3);
	assert_int_equal(guest_read(3), 2);
}

/* The hart stops counting an event while it moves. For the guest its counter still runs, so the
 * same call does not take it for a stopped one and give it another event. */
static void test_a_counter_lost_in_a_move(void **state)
{
	unsigned int calls = 0;

	(void)state;
	set_up(true);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	assert_int_equal(ask_for(1 << 3, 1), 3);
	assert_int_equal(ask_for(1 << 5, 1), 5);
	assert_int_equal(start(1 << 3, INIT, 100), SBI_SUCCESS);
	stub.fail_start = 1 << 4;
	assert_int_equal(ask(1 << 3 | 1 << 5, CLEAR, 2, &calls).value, 5);
	assert_false(vpmu.lost >> 3 & 1);
	stub_settle();
	assert_true(vpmu.lost >> 3 & 1);
	stub.fail_start = 0;
	assert_int_equal(start(1 << 3, INIT, 7), SBI_SUCCESS);
	stub_count_raw(1, 8);
	assert_int_equal(guest_read(3), 15);
}

/* An overflow that is found before the move starts the event again, and the hart refuses that: its
 * counters are lost. They must not move with what the hart's counter has instead of their count. */
static void test_a_counter_lost_before_a_move(void **state)
{
	(void)state;
	set_up(false);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	assert_int_equal(ask_for(1 << 3, 1), 3);
	assert_int_equal(ask_for(1 << 6, 1), 6);
	assert_int_equal(start(1 << 3, INIT, 1000), SBI_SUCCESS);
	assert_int_equal(start(1 << 6, INIT, (uint64_t)-3), SBI_SUCCESS);
	stub_count_raw(1, 5);
	assert_true(stub.pending);
	stub.fail_start = 1 << 3;
	assert_int_equal(ask_for(1 << 5, 2), 5);
	stub_settle();
	assert_true(guest_read_is_illegal(3));
	assert_true(guest_read_is_illegal(6));
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(vpmu_scountovf(&vpmu), 1 << 6);
}

/* Which of the hart's counters count a read is noted for each counter, and not for one that has
 * moved since, even if they are the same ones again. */
static void test_a_noted_read(void **state)
{
	const uint64_t reader = 1;
	uint64_t counts, value;

	(void)state;
	set_up(false);
	stub.any_hctr = true;
	stub.raw_hctrs[1] = 0x08;
	assert_int_equal(config(1 << 3, 0, INSTRS), 3);
	assert_int_equal(config(1 << 4, 0, CYCLES), 4);
	assert_int_equal(start(0x18, INIT, 0), SBI_SUCCESS);
	vpmu_retired_slow(&vpmu, vpmu_retired_read(&vpmu, 3, reader, &value));
	assert_true(vpmu_read_cached(&vpmu, 3, reader, &counts));
	assert_int_equal(counts, 0x18);
	assert_int_equal(stop(1 << 4, RESET), SBI_SUCCESS);
	assert_int_equal(ask_for(1 << 5, 1), 5);
	assert_int_equal(stop(1 << 5, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(1 << 0, 0, CYCLES), 0);
	assert_int_equal(start(1 << 0, INIT, 0), SBI_SUCCESS);
	assert_false(vpmu_read_cached(&vpmu, 3, reader, &counts));
	assert_int_equal(counts, 0x18);
}

/* A chain of three, where each call moves one running event, and none at a time if they are
 * stopped. */
static void chain(bool cheap, bool running, unsigned int expected)
{
	unsigned int calls = 0;

	set_up(cheap);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x30;
	stub.raw_hctrs[3] = 0x60;
	stub.raw_hctrs[4] = 0x08;
	for (uint32_t i = 1; i <= 3; i++) {
		ask_for(1UL << (9 + i), i);
		if (running)
			assert_int_equal(start(1UL << (9 + i), INIT, i), SBI_SUCCESS);
	}
	assert_int_equal(ask(1 << 4, 0, 4, &calls).error, SBI_SUCCESS);
	assert_int_equal(calls, expected);
	for (uint32_t i = 1; i <= 3 && running; i++) {
		stub_count_raw(i, i);
		assert_int_equal(guest_read(9 + i), 2 * i);
	}
}

static void test_a_chain(void **state)
{
	(void)state;
	chain(true, true, 1);
	chain(false, true, 3);
	chain(false, false, 1);
}

/* Without moves the first come keeps its counter, and a host without this costs nothing. */
static void test_no_moves(void **state)
{
	unsigned int calls = 0;

	(void)state;
	stub_setup(NULL);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	ask_for(1 << 3, 1);
	assert_int_equal(ask(1 << 5, 0, 2, &calls).error, SBI_ERR_NOT_SUPPORTED);
}

/* The hardware refuses the move, or the new event after a move: all is as before. */
static void test_a_move_that_is_refused(void **state)
{
	unsigned int calls = 0;

	(void)state;
	for (uint64_t refused = 0x08; refused <= 0x10; refused *= 2) {
		set_up(false);
		stub.raw_hctrs[1] = 0x18;
		stub.raw_hctrs[2] = 0x08;
		ask_for(1 << 3, 1);
		assert_int_equal(start(1 << 3, INIT, 5), SBI_SUCCESS);
		stub.refuse_prepare = refused;
		assert_int_equal(ask(1 << 5, 0, 2, &calls).error, SBI_ERR_NOT_SUPPORTED);
		stub_count_raw(1, 6);
		assert_int_equal(guest_read(3), 11);
		stub.refuse_prepare = 0;
		ask_for(1 << 5, 2);
		stub_count_raw(1, 6);
		assert_int_equal(guest_read(3), 17);
	}
}

/* An observer of an event moves along, and one that is in the way ends with its exact count. */
static void test_observers(void **state)
{
	uint64_t value;
	bool shared;

	(void)state;
	set_up(true);
	stub.raw_hctrs[1] = 0x18;
	stub.raw_hctrs[2] = 0x08;
	stub.raw_hctrs[3] = 0x10;
	ask_for(1 << 3, 1);
	assert_int_equal(start(1 << 3, INIT, 0), SBI_SUCCESS);
	assert_int_equal(vpmu_observe(&vpmu, true, 0, RAW, 1, 0, 0), VPMU_OBSERVE_OK);
	assert_int_equal(vpmu_observe(&vpmu, true, 1, RAW, 3, 0, 0), VPMU_OBSERVE_OK);
	stub_count_raw(1, 5);
	stub_count_raw(3, 6);
	ask_for(1 << 5, 2);
	assert_int_equal(stub.unobserved, 1 << 1);
	assert_int_equal(stub.unobserved_value, 6);
	stub_count_raw(1, 7);
	assert_int_equal(guest_read(3), 12);
	assert_true(vpmu_observer_read(&vpmu, 0, &value, &shared));
	assert_int_equal(value, 12);
}

/* --- random --------------------------------------------------------------------------- */

struct lctr {
	bool configured, running, overflow;
	uint32_t event; /* and the filter: 1 to 2 * EVENTS */
	uint64_t value;
};

static struct lctr model[LAST + 1];
static uint32_t granted, refused, dropped, moved, faults;

static uint64_t data_of(uint32_t event)
{
	return (event + 1) / 2;
}

/* Has each of the events a counter of its own? Tries all. */
static bool fits(const uint32_t *events, uint32_t n, uint64_t taken)
{
	uint64_t free;

	if (n == 0)
		return true;
	free = stub.raw_hctrs[data_of(events[0])] & ~taken;
	for (; free != 0; free &= free - 1)
		if (fits(events + 1, n - 1, taken | (free & -free)))
			return true;
	return false;
}

static bool feasible(uint32_t event, uint32_t without)
{
	uint32_t events[LAST + 1] = {event};
	uint32_t n = 1;

	for (uint32_t i = FIRST; i <= LAST; i++) {
		uint32_t k = 0;

		if (!model[i].configured || i == without)
			continue;
		while (k < n && events[k] != model[i].event)
			k++;
		if (k == n)
			events[n++] = model[i].event;
	}
	/* More events than counters; saves the search through all permutations. */
	return n <= HCTRS && fits(events, n, 0);
}

/* Is there a counter in the set for the event? */
static bool expected(uint64_t set, uint32_t event)
{
	bool unconfigured = false;

	for (uint32_t i = FIRST; i <= LAST; i++)
		unconfigured |= (set >> i & 1) != 0 && !model[i].configured;
	if (unconfigured)
		return feasible(event, LAST + 1);
	for (uint32_t i = FIRST; i <= LAST; i++)
		if ((set >> i & 1) != 0 && !model[i].running && feasible(event, i))
			return true;
	return false;
}

static void check_all(void)
{
	for (uint32_t i = FIRST; i <= LAST; i++) {
		const struct lctr *c = &model[i];

		assert_int_equal(guest_read_is_illegal(i), !c->configured);
		if (c->configured)
			assert_int_equal(guest_read(i), c->value);
		assert_int_equal(vpmu_scountovf(&vpmu) >> i & 1, c->configured && c->overflow);
	}
}

/* Where the counters were, to see which have moved. */
static uint8_t was[LAST + 1];

static void note_places(void)
{
	for (uint32_t i = FIRST; i <= LAST; i++)
		was[i] = vpmu.counter[i].hctr;
}

static bool others_moved(uint32_t lctr)
{
	for (uint32_t i = FIRST; i <= LAST; i++)
		if (i != lctr && model[i].configured && vpmu.counter[i].hctr != was[i])
			return true;
	return false;
}

static void other_vcpu(void)
{
	vpmu_save(&vpmu);
	stub_neighbour();
	vpmu_restore(&vpmu);
}

static void configure(struct chance *c)
{
	uint32_t event = 1 + below(c, 2 * EVENTS);
	uint64_t set = percent(c, 50) ? LCTRS_OK : 1UL << (FIRST + below(c, LAST - FIRST + 1));
	unsigned long flags = event & 1 ? UINH : 0;
	struct lctr *lctr;
	struct sbi_ret ret;
	bool unconfigured = false, yes = expected(set, event), fault = percent(c, 5);

	for (uint32_t i = FIRST; i <= LAST; i++)
		unconfigured |= (set >> i & 1) != 0 && !model[i].configured;
	flags |= percent(c, 50) ? CLEAR : 0;
	flags |= percent(c, 30) ? AUTO : 0;
	note_places();
	stub.refuse_prepare = fault ? 1ULL << (FIRST + below(c, HCTRS)) : 0;
	ret = vpmu_counter_config_matching(&vpmu, 0, set, flags, RAW, data_of(event));
	while (ret.error == VPMU_AGAIN) {
		if (!fault && percent(c, 50))
			other_vcpu();
		ret = vpmu_config_movable(&vpmu, 0, set, flags, RAW, data_of(event));
	}
	stub.refuse_prepare = 0;
	if (ret.error != SBI_SUCCESS) {
		refused++;
		assert_int_equal(ret.error, SBI_ERR_NOT_SUPPORTED);
		assert_true(!yes || fault);
		faults += yes;
		/* A counter that was to be configured anew may have lost its configuration. */
		for (uint32_t i = FIRST; i <= LAST && fault; i++)
			if ((set >> i & 1) != 0 && !model[i].running && guest_read_is_illegal(i))
				model[i].configured = false;
		return;
	}
	granted++;
	assert_true(yes);
	assert_in_range(ret.value, FIRST, LAST);
	assert_true(set >> ret.value & 1);
	lctr = &model[ret.value];
	assert_false(lctr->running);
	assert_true(!lctr->configured == unconfigured);
	dropped += !unconfigured;
	moved += others_moved((uint32_t)ret.value);
	*lctr = (struct lctr){
	    .configured = true,
	    .running = flags & AUTO,
	    .event = event,
	    .value = flags & CLEAR ? 0 : lctr->value,
	};
}

static void count_events(struct chance *c)
{
	uint64_t data = 1 + below(c, EVENTS), n = below(c, 30);

	stub_count_raw(data, n);
	for (uint32_t i = FIRST; i <= LAST; i++) {
		if (!model[i].running || data_of(model[i].event) != data)
			continue;
		model[i].value += n;
		model[i].overflow |= model[i].value < n;
	}
	if (stub.pending)
		vpmu_overflow(&vpmu);
}

static void start_or_stop(struct chance *c)
{
	uint32_t i = FIRST + below(c, LAST - FIRST + 1);
	bool reset = percent(c, 40);

	if (!model[i].configured)
		return;
	if (model[i].running) {
		assert_int_equal(stop(1UL << i, reset ? RESET : 0), SBI_SUCCESS);
		model[i].running = false;
		model[i].configured = !reset;
		if (reset)
			model[i].overflow = false;
		return;
	}
	model[i].value = percent(c, 50) ? -(uint64_t)below(c, 60) : below(c, 1000);
	model[i].overflow = false;
	model[i].running = true;
	assert_int_equal(start(1UL << i, INIT, model[i].value), SBI_SUCCESS);
}

static void one_world(struct chance *c, uint32_t steps)
{
	set_up(percent(c, 50));
	stub.asking_evicts = percent(c, 30);
	for (uint32_t i = FIRST; i <= LAST; i++)
		model[i] = (struct lctr){0};
	/* Some have all counters, some few, some a group. */
	for (uint32_t i = 1; i <= EVENTS; i++) {
		do
			stub.raw_hctrs[i] = percent(c, 30)   ? 0x1fU << (FIRST + below(c, 4))
			                    : percent(c, 50) ? 1U << (FIRST + below(c, HCTRS))
			                                     : 0U;
		while (percent(c, 30));
		for (uint32_t k = below(c, 3) + !stub.raw_hctrs[i]; k; k--)
			stub.raw_hctrs[i] |= 1U << (FIRST + below(c, HCTRS));
	}
	while (steps--) {
		uint32_t what = below(c, 100);

		if (what < 35)
			configure(c);
		else if (what < 60)
			start_or_stop(c);
		else if (what < 90)
			count_events(c);
		else
			other_vcpu();
		check_all();
	}
}

static void test_random(void **state)
{
	struct chance c = {.state = 1};

	(void)state;
	for (uint32_t i = 0; i < STEPS / 300; i++)
		one_world(&c, 300);
	/* By the seed; so many requests would have been refused without a move, at the least. */
	assert_int_equal(granted, 47611);
	assert_int_equal(moved, 4675);
	assert_int_equal(dropped, 19664);
	assert_int_equal(refused, 57112);
	assert_int_equal(faults, 177);
}

int test_vpmu_room(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_running_event_moves),
	    cmocka_unit_test(test_an_armed_event_moves),
	    cmocka_unit_test(test_a_wrap_before_a_move),
	    cmocka_unit_test(test_a_counter_lost_in_a_move),
	    cmocka_unit_test(test_a_counter_lost_before_a_move),
	    cmocka_unit_test(test_a_noted_read),
	    cmocka_unit_test(test_a_chain),
	    cmocka_unit_test(test_no_moves),
	    cmocka_unit_test(test_a_move_that_is_refused),
	    cmocka_unit_test(test_observers),
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
