/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the fake hart has its defects, and that the comparison detects what it exists for. */
#include "tests/host/test_vpmu_model.h"

#include <string.h>

#include "tests/host/epoch.h"

/* --- can the comparison fail? --------------------------------------------------------- */

static bool notices(const struct fake_hart_config *mistaken)
{
	static struct epoch epoch;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct chance c = {chance_mix(seed)};

		random_machine(&c, 0, &epoch.machine);
		epoch.machine.hart = *mistaken;
		for (uint32_t i = 0; i < VCPUS; i++)
			epoch.machine.policy[i].shows_flags = false;
		epoch.machine.hart.misuse = world_misused;
		for (uint32_t i = 0; i < VCPUS; i++)
			epoch.machine.policy[i].width = mistaken->width;
		epoch_run(&epoch, &c, EPOCH_STEPS);
		if (world_difference()[0])
			return true;
	}
	return false;
}

/* A port that hands out two counters for an event that only one counts. */
static void test_notices_dead_counters(void **state)
{
	struct fake_hart_config config = fake_hart_free();

	(void)state;
	config.misuse = world_misused;
	config.one_counter_per_event = true;
	assert_true(notices(&config));
}

/* A port that reprograms a counter without the reset that cleans the map. */
static void test_notices_sticky_map(void **state)
{
	struct fake_hart_config config = fake_hart_homes();

	(void)state;
	config.misuse = world_misused;
	config.hctrs[FAKE_DTLB_LOAD] = config.hctrs[FAKE_CYCLES];
	assert_false(notices(&config));
	config.port_keeps_map = true;
	assert_true(notices(&config));
}

/* A port that counts no firmware event for the vPMU. */
static void test_notices_lost_watch(void **state)
{
	struct fake_hart_config config = fake_hart_homes();

	(void)state;
	config.port_loses_watch = true;
	assert_true(notices(&config));
}

static void test_notices_short_write(void **state)
{
	struct fake_hart_config config = fake_hart_homes();

	(void)state;
	config.port_short_write = true;
	assert_true(notices(&config));
}

/* --- the fake hart -------------------------------------------------------------------- */

static const char *misused = ""; /* the first request that the port must refuse */

static void note_misuse(const char *what)
{
	if (!misused[0])
		misused = what;
}

static struct fake_start start_of(uint32_t idx, enum fake_event event, bool armed, uint64_t value)
{
	struct fake_start start = {.hctr = {idx}, .armed = armed, .value = value};

	start.config.event_idx = fake_hart_event_idx(event, &start.config.event_data);
	return start;
}

static void enter_hart(const struct fake_hart_config *config)
{
	fake_hart_reset(config);
	misused = "";
	fake_hart_enter(1);
}

static void test_fake_second_counter_is_dead(void **state)
{
	struct fake_hart_config config = fake_hart_free();
	struct fake_start starts[] = {start_of(5, FAKE_CYCLES, false, 0),
	                              start_of(6, FAKE_CYCLES, false, 0)};

	(void)state;
	config.one_counter_per_event = true;
	enter_hart(&config);
	assert_int_equal(fake_hart_start(starts, 2), 0);
	assert_int_equal(fake_hart_run_guest(1000, 2003), 3003);
	assert_int_equal(vpmu_port_read((hctr_t){5}), 3003);
	assert_int_equal(vpmu_port_read((hctr_t){6}), 0);
}

/* Cycles first, then dTLB write misses without a reset: the counter continues to count cycles. */
static void test_fake_map_is_sticky(void **state)
{
	struct fake_hart_config config = fake_hart_free();
	struct fake_start first = start_of(3, FAKE_CYCLES, false, 0);
	struct fake_start second = start_of(3, FAKE_DTLB_ST, false, 0);

	(void)state;
	config.sticky_map = true;
	config.port_keeps_map = true;
	enter_hart(&config);
	fake_hart_start(&first, 1);
	vpmu_port_stop(1 << 3);
	fake_hart_start(&second, 1);
	assert_int_equal(fake_hart_run_guest(2003, 0), 2003);
	assert_int_equal(vpmu_port_read((hctr_t){3}), 2003);
}

static void test_fake_far_start_swallows_next_overflow(void **state)
{
	static const struct {
		uint64_t value;
		bool armed;
		uint64_t swallowed;
	} cases[] = {
	    {0x6000000000000000, true, 1},  {0x7fff000000000000, true, 1},
	    {0x8000000000000001, true, 1},  {0, true, 0},
	    {0x4000000000000000, true, 0},  {0xc000000000000000, true, 0},
	    {0xffff000000000000, true, 0},  {0x8000000000000001, false, 0},
	    {0x6000000000000000, false, 0},
	};
	struct fake_hart_config config = fake_hart_homes();
	struct fake_start near = start_of(3, FAKE_CYCLES, true, 0 - 1000ULL);

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_start far = near;

		far.value = cases[i].value;
		far.armed = cases[i].armed;
		enter_hart(&config);
		fake_hart_run_guest(100, 0);
		fake_hart_start(&far, 1);
		vpmu_port_stop(1 << 3);
		fake_hart_start(&near, 1);
		assert_int_equal(fake_hart_run_guest(2000, 0), cases[i].swallowed ? 2000 : 1000);
		assert_int_equal(fake_hart_pending(), !cases[i].swallowed);
		assert_int_equal(fake_trace.swallowed, cases[i].swallowed);
	}
}

static void test_fake_overflow_flags(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	struct fake_start armed = start_of(3, FAKE_CYCLES, true, 0 - 10ULL);
	struct fake_start quiet = start_of(4, FAKE_INSNS, false, 0 - 5ULL);

	(void)state;
	config.misuse = note_misuse;
	config.take_without_pending = true;
	enter_hart(&config);
	/* Set at boot, and by a start that is not armed. */
	assert_int_equal(vpmu_port_take_overflow(0xff), 0xff);
	fake_hart_start(&armed, 1);
	fake_hart_start(&quiet, 1);
	assert_int_equal(vpmu_port_take_overflow(0x18), 0x10);
	assert_int_equal(fake_hart_run_guest(4, 100), 10);
	assert_true(fake_hart_pending());
	assert_int_equal(fake_hart_run_guest(1, 0), 0);
	/* A start while one is pending is a mistake, and raises nothing later. */
	armed.hctr.idx = 3;
	assert_string_equal(misused, "");
	vpmu_port_stop(1 << 3);
	assert_string_equal(misused, "stop while an overflow pends");
	fake_hart_start(&armed, 1);
	assert_int_equal(vpmu_port_take_overflow(0x08), 0x08);
	assert_int_equal(fake_hart_run_guest(20, 0), 20);
	assert_int_equal(vpmu_port_read((hctr_t){3}), 10);
	assert_int_equal(vpmu_port_read((hctr_t){4}), 25);
}

static void expect_misuse(const char *what)
{
	assert_string_equal(misused, what);
	misused = "";
}

static void test_fake_notices_misuse(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	struct fake_start start = start_of(3, FAKE_CYCLES, false, 0);
	struct fake_start wrong = start_of(4, FAKE_CYCLES, false, 0);

	(void)state;
	config.misuse = note_misuse;
	enter_hart(&config);
	vpmu_port_read((hctr_t){3});
	expect_misuse("read of a counter that somebody has touched");
	vpmu_port_stop(1 << 3);
	expect_misuse("stop of a counter that does not run");
	fake_hart_start(&wrong, 1);
	expect_misuse("counter cannot count the event");
	vpmu_port_stop(1 << 4);
	fake_hart_start(&start, 1);
	fake_hart_start(&start, 1);
	expect_misuse("prepare of a running counter");
	vpmu_port_set(1 << 3, 0, false);
	expect_misuse("set of a running counter");
	vpmu_port_prepare(start.hctr, &start.config);
	expect_misuse("prepare of a running counter");
	vpmu_port_set_direct(1 << 3);
	fake_hart_leave();
	expect_misuse("vcpu left with a counter running");
	fake_hart_enter(2);
	expect_misuse("counters run before their vcpu is resident");
	fake_hart_run_guest(1, 0);
	expect_misuse("guest entered with another's counter direct");
	fake_hart_enter(3);
	expect_misuse("two vcpus resident at once");
}

/* The wrap of a cache event that is not armed: no LCOFI, and no OF because of the start. */
static void test_fake_unarmed_cache_events(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	struct fake_start starts[] = {start_of(3, FAKE_CYCLES, true, 0 - 9ULL),
	                              start_of(5, FAKE_DTLB_LOAD, true, 0 - 5ULL)};

	(void)state;
	config.no_armed_cache_events = true;
	enter_hart(&config);
	fake_hart_start(starts, 2);
	assert_int_equal(fake_hart_step(FAKE_VS, FAKE_BIT(FAKE_DTLB_LOAD), 7), 7);
	assert_false(fake_hart_pending());
	assert_int_equal(fake_hart_step(FAKE_VS, FAKE_BIT(FAKE_CYCLES), 99), 9);
	assert_int_equal(vpmu_port_take_overflow(0x28), 0x08);
	assert_int_equal(vpmu_port_read((hctr_t){5}), 2);
}

/* A counter that counts HS advances in each call of the port, and may wrap there. */
static void test_fake_counts_hs(void **state)
{
	const struct vpmu_policy policy = {.count_hs = true};
	struct fake_hart_config config = fake_hart_homes();
	struct fake_start start = start_of(3, FAKE_CYCLES, true, 0 - 3ULL);

	(void)state;
	config.hs_work = 1;
	enter_hart(&config);
	fake_hart_policy(1, &policy);
	start.config.inhibit = HW_COUNT_HS;
	fake_hart_start(&start, 1);
	assert_int_equal(vpmu_port_read((hctr_t){3}), ~0ULL - 1);
	assert_int_equal(vpmu_port_read((hctr_t){3}), ~0ULL);
	assert_false(fake_hart_pending());
	assert_int_equal(vpmu_port_read((hctr_t){3}), 0);
	assert_true(fake_hart_pending());
	assert_int_equal(fake_trace.hs_units, 3);
	assert_int_equal(vpmu_port_take_overflow(0x08), 0x08);
	assert_int_equal(fake_hart_run_guest(10, 5), 15);
	assert_int_equal(vpmu_port_read((hctr_t){3}), 17);
}

static void test_fake_firmware_totals(void **state)
{
	const struct vpmu_policy policy = {.fw_port_events = 0x11, .n_tally_events = 2};
	struct fake_hart_config config = fake_hart_homes();
	uint64_t misaligned, illegal, tally;

	(void)state;
	config.misuse = note_misuse;
	enter_hart(&config);
	fake_hart_policy(1, &policy);
	misaligned = vpmu_port_fw_total(0);
	illegal = vpmu_port_fw_total(4);
	tally = vpmu_port_fw_total(257);
	vpmu_port_fw_watch(0x10);
	fake_hart_fw_event(1, 0, 3);
	fake_hart_fw_event(1, 4, 5);
	fake_hart_fw_event(1, 257, 7);
	assert_int_equal(vpmu_port_fw_total(0), misaligned);
	assert_int_equal(vpmu_port_fw_total(4), illegal + 5);
	assert_int_equal(vpmu_port_fw_total(257), tally + 7);
	assert_int_equal(fake_hart_watched(1), 0x10);
	vpmu_port_fw_watch(0x10);
	expect_misuse("watch of what is watched already");
	vpmu_port_fw_watch(0x20);
	expect_misuse("watch of what the port does not count");
	vpmu_port_fw_total(1);
	expect_misuse("total of an event that the port does not count");
	vpmu_port_fw_total(258);
	expect_misuse("total of an event that the port does not count");
	fake_hart_leave();
	fake_hart_fw_event(1, 257, 1);
	fake_hart_enter(1);
	assert_int_equal(vpmu_port_fw_total(257), tally + 8);
}

static void test_fake_memory(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	const uint64_t value = 0x1122334455667788;
	uint64_t got = 0;
	uint8_t reads[4], writes[4];

	(void)state;
	enter_hart(&config);
	assert_true(vpmu_port_guest_ram(FAKE_RAM, FAKE_RAM_SIZE));
	assert_false(vpmu_port_guest_ram(FAKE_RAM, FAKE_RAM_SIZE + 1));
	assert_false(vpmu_port_guest_ram(FAKE_RAM - 1, 2));
	assert_false(vpmu_port_guest_ram(FAKE_RAM_END, 1));
	assert_false(vpmu_port_guest_ram(FAKE_RAM + 16, ~0ULL - 8));
	assert_int_equal(fake_mem_touches(), 0);
	assert_false(vpmu_port_guest_write(FAKE_RAM_END - 4, &value, 8));
	assert_int_equal(fake_mem_peek64(1, FAKE_RAM_END - 8), 0);
	assert_true(vpmu_port_guest_write(FAKE_RAM + 8, &value, 8));
	assert_true(vpmu_port_guest_read(FAKE_RAM + 12, &got, 4));
	assert_int_equal(got, 0x11223344);
	assert_true(fake_mem_touched(FAKE_RAM + 4, 4, reads, writes));
	assert_memory_equal(reads, "\0\0\1\0", 4);
	assert_memory_equal(writes, "\0\1\1\0", 4);
	assert_false(fake_mem_touched(FAKE_RAM + 12, 1, reads, writes));
	assert_false(fake_mem_touched(FAKE_RAM + 8, 1, reads, writes));
	assert_int_equal(fake_mem_peek64(2, FAKE_RAM + 8), 0);
	fake_mem_reset();
	assert_int_equal(fake_mem_peek64(1, FAKE_RAM + 8), 0);
}

int hart_test_group(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fake_second_counter_is_dead),
	    cmocka_unit_test(test_fake_map_is_sticky),
	    cmocka_unit_test(test_fake_far_start_swallows_next_overflow),
	    cmocka_unit_test(test_fake_overflow_flags),
	    cmocka_unit_test(test_fake_notices_misuse),
	    cmocka_unit_test(test_fake_unarmed_cache_events),
	    cmocka_unit_test(test_fake_counts_hs),
	    cmocka_unit_test(test_fake_firmware_totals),
	    cmocka_unit_test(test_fake_memory),
	    cmocka_unit_test(test_notices_dead_counters),
	    cmocka_unit_test(test_notices_sticky_map),
	    cmocka_unit_test(test_notices_lost_watch),
	    cmocka_unit_test(test_notices_short_write),
	};

	return cmocka_run_group_tests_name("fake hart", tests, NULL, NULL);
}
