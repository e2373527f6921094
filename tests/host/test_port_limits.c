/* SPDX-License-Identifier: Apache-2.0 */
/* What a port of a network may send, if the VM tree limits that; in front of hostile drivers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/hart/platform.h"
#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_driver.h"

#define TIMEBASE 10000000U
#define PERIOD   10000U /* ticks */
#define START    UINT64_C(123456789)

static struct driver drivers[STATIONS];

/* What VM 0 has sent and what was refused, as the test expects it. */
static uint64_t sent, sent_bytes, refused;

static void start_at(uint64_t time, uint32_t timebase, uint32_t frames, uint32_t bytes)
{
	instret_step = 0;
	machine_time = time;
	platform.timebase = timebase;
	stations_limit(frames, bytes);
	stations_make();
	for (uint32_t i = 0; i < STATIONS; i++)
		driver_start(&drivers[i], i, 0, 0, QUEUE);
	sent = sent_bytes = refused = 0;
}

/* As at boot: the first frame comes long after it. */
static void start(uint32_t frames, uint32_t bytes)
{
	start_at(START, TIMEBASE, frames, bytes);
	machine_time += TIMEBASE;
}

static void assert_counts(void)
{
	struct port_counts counts = driver_counts(&drivers[0]);

	assert_int_equal(counts.sent, sent);
	assert_int_equal(counts.sent_bytes, sent_bytes);
	assert_int_equal(counts.refused, refused);
	assert_int_equal(counts.lost, 0);
}

/* VM 0 sends a frame to VM 1, which gets it if it is within the limit. */
static void send(uint32_t bytes, bool within)
{
	assert_true(driver_frame(&drivers[0], macs[1], bytes, bytes));
	driver_notify(&drivers[0]);
	assert_int_equal(driver_take(&drivers[1]), within);
	assert_int_equal(drivers[1].wrong, 0);
	sent += within;
	sent_bytes += within ? bytes : 0;
	refused += !within;
	assert_counts();
}

static void send_all(uint32_t n, uint32_t bytes, bool within)
{
	for (uint32_t i = 0; i < n; i++)
		send(bytes, within);
}

/* --- the limits ---------------------------------------------------------------------------- */

static void frames(void **state)
{
	(void)state;
	for (uint32_t most = 1; most < 8; most++) {
		start(most, 0);
		send_all(most, MOST, true);
		send_all(3, LEAST, false);
		/* The last tick of the period, and the first one behind it. */
		machine_time += PERIOD - 1;
		send(60, false);
		machine_time++;
		send_all(most, 60, true);
		send(60, false);
	}
}

/* A period begins with its first frame, not at a multiple of its length. */
static void periods(void **state)
{
	(void)state;
	start(2, 0);
	send(60, true);
	machine_time += PERIOD - 1;
	send(60, true);
	send(60, false);
	machine_time += PERIOD / 2;
	send(60, true);
	machine_time += PERIOD - 1;
	send(60, true);
	send(60, false);
	machine_time += 1;
	send_all(2, 60, true);
	/* One that was refused begins none. */
	machine_time += PERIOD / 2;
	send(60, false);
	machine_time += PERIOD / 2;
	send_all(2, 60, true);
	send(60, false);
}

static void bytes(void **state)
{
	(void)state;
	start(0, 3000);
	send(MOST, true);
	send(MOST, false);
	send(3000 - MOST + 1, false);
	/* What is refused is no part of it: a shorter frame fits. */
	send(3000 - MOST, true);
	send(LEAST, false);
	machine_time += PERIOD - 1;
	send(LEAST, false);
	machine_time++;
	send(MOST, true);
	start(0, MOST);
	for (uint32_t i = 0; i < 5; i++) {
		send(MOST, true);
		send(LEAST, false);
		machine_time += PERIOD;
	}
	send_all(MOST / LEAST, LEAST, true);
	send(LEAST, false);
}

static void both(void **state)
{
	(void)state;
	start(3, 2000);
	send_all(3, 60, true);
	send(60, false);
	machine_time += PERIOD;
	send(MOST, true);
	send(2000 - MOST + 1, false);
	send(2000 - MOST - LEAST, true);
	send(LEAST, true);
	send(LEAST, false);
	machine_time += PERIOD;
	send_all(2, 1000, true);
	send(LEAST, false);
}

static void without(void **state)
{
	(void)state;
	start(0, 0);
	send_all(1000, MOST, true);
	/* The largest of each limits the other one only. */
	start(100000, 2000);
	send(MOST, true);
	send(MOST, false);
	start(2, 100000000);
	send_all(2, MOST, true);
	send(MOST, false);
}

/* --- what counts --------------------------------------------------------------------------- */

static void refused_otherwise(void **state)
{
	struct driver *d = &drivers[0];

	(void)state;
	start(1, MOST);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t slot = d->given[PORT_SENDS] % QUEUE;

		assert_true(driver_frame(d, macs[1], 1, 60));
		memcpy(driver_buffer(d, PORT_SENDS, slot) + HEADER + 6, macs[2], 6);
		driver_notify(d);
		refused++;
	}
	send(MOST + 1, false);
	send(LEAST - 1, false);
	send(MOST, true);
	send(60, false);
}

/* Frames that reach nobody are sent, too. */
static void frames_to_nobody(void **state)
{
	static const uint8_t reserved[6] = {1, 0x80, 0xc2, 0, 0, 0x0e};

	(void)state;
	start(3, 0);
	assert_true(driver_frame(&drivers[0], reserved, 1, 60));
	driver_notify(&drivers[0]);
	sent++, sent_bytes += 60;
	assert_counts();
	port_link(&stations[0], 0, false);
	assert_true(driver_frame(&drivers[0], macs[1], 1, 60));
	driver_notify(&drivers[0]);
	port_link(&stations[0], 0, true);
	assert_int_equal(driver_counts(&drivers[0]).lost, 1);
	assert_int_equal(driver_counts(&drivers[0]).sent, 2);
	assert_int_equal(driver_take(&drivers[1]), 0);
	assert_true(driver_frame(&drivers[0], macs[1], 1, 60));
	assert_true(driver_frame(&drivers[0], macs[1], 1, 60));
	driver_notify(&drivers[0]);
	assert_int_equal(driver_take(&drivers[1]), 1);
	assert_int_equal(driver_counts(&drivers[0]).refused, 1);
}

/* Neither other VMs of the network nor other ports of the VM. */
static void others_have_none(void **state)
{
	struct driver second;

	(void)state;
	start(1, MOST);
	send(60, true);
	send(60, false);
	driver_start(&second, 0, 1, 0, QUEUE);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(driver_frame(&second, macs[3], i, 60));
		driver_notify(&second);
		assert_int_equal(driver_take(&drivers[3]), 1);
		assert_true(driver_frame(&drivers[1], macs[0], i, MOST));
		driver_notify(&drivers[1]);
		assert_int_equal(driver_take(&drivers[0]), 1);
	}
	assert_int_equal(driver_counts(&second).refused, 0);
	assert_int_equal(driver_counts(&drivers[1]).refused, 0);
	send(60, false);
}

/* --- time ---------------------------------------------------------------------------------- */

static void time_wraps(void **state)
{
	(void)state;
	for (uint32_t before = 1; before < 3 * PERIOD; before += 1237) {
		start_at(0 - (uint64_t)before, TIMEBASE, 1, 0);
		machine_time += PERIOD;
		send(60, true);
		send(60, false);
		machine_time += PERIOD - 1;
		send(60, false);
		machine_time++;
		send(60, true);
		send(60, false);
	}
}

/* Two harts read it one after the other, and the second one gets less. */
static void time_of_another_hart(void **state)
{
	(void)state;
	start(2, 0);
	send(60, true);
	machine_time--;
	send(60, true);
	send_all(3, 60, false);
	machine_time += PERIOD;
	send(60, false);
	machine_time++;
	send(60, true);
}

/* A period is of whole ticks, and never shorter than 1 ms. */
static void slow_clocks(void **state)
{
	static const struct {
		uint32_t timebase, ticks;
	} clocks[] = {{1, 1}, {1000, 1}, {1001, 2}, {32768, 33}, {4294967295U, 4294968}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		start_at(START, clocks[i].timebase, 1, 0);
		machine_time += clocks[i].ticks;
		send(60, true);
		machine_time += clocks[i].ticks - 1;
		send(60, false);
		machine_time++;
		send(60, true);
	}
}

/* docs/networks.md: in any n ms at most n + 1 times the limit. */
static void in_any_time(void **state)
{
	static uint64_t times[2000];

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct chance c = {seed};
		uint32_t most = 1 + below(&c, 10), n = 0, offered = 0;

		start(most, 0);
		for (; n < ARRAY_SIZE(times); offered++) {
			bool goes;

			machine_time +=
			    percent(&c, 10) ? below(&c, 3 * PERIOD) : below(&c, PERIOD / most);
			assert_true(offered < 100 * ARRAY_SIZE(times));
			assert_true(driver_frame(&drivers[0], macs[1], n, 60));
			driver_notify(&drivers[0]);
			goes = driver_take(&drivers[1]);
			if (goes)
				times[n++] = machine_time;
		}
		for (uint32_t ms = 1; ms < 10; ms++) {
			for (uint32_t i = (ms + 1) * most; i < n; i++)
				assert_true(times[i] - times[i - (ms + 1) * most] >=
				            (uint64_t)ms * PERIOD);
		}
	}
}

/* --- stays and lives ----------------------------------------------------------------------- */

/* The hart makes the guest go on in one stay. Returns whether it has to again. */
static bool notify_once(void)
{
	driver_vcpu->call.again = false;
	out(&drivers[0], 0x104, 1, 2);
	return driver_vcpu->call.again;
}

/* A frame to several ports, in a stay each, counts once; also if a period ends meanwhile. */
static void frames_in_several_stays(void **state)
{
	(void)state;
	for (uint32_t later = 0; later < 2; later++) {
		uint32_t stays = 1;

		start(4, 1200);
		for (uint32_t n = 0; n < 5; n++)
			assert_true(driver_frame(&drivers[0], broadcast, n, 300));
		instret_step = 4000;
		for (; notify_once() && stays < 100; stays++)
			machine_time += later ? PERIOD : 0;
		assert_true(stays >= 8);
		assert_int_equal(driver_counts(&drivers[0]).sent, 4 + later);
		assert_int_equal(driver_counts(&drivers[0]).refused, 1 - later);
		for (uint32_t i = 1; i <= 2; i++)
			assert_int_equal(driver_take(&drivers[i]), 4 + later);
		/* Nothing is left of one that was. */
		instret_step = 0;
		sent = 4 + later, refused = 1 - later, sent_bytes = 300 * sent;
		machine_time += PERIOD;
		send_all(4, 300, true);
		send(300, false);
	}
}

/* Sends to VM 1 what goes on to VM 2 in a later stay. */
static void begin_broadcast(uint32_t bytes)
{
	assert_true(driver_frame(&drivers[0], broadcast, 1, bytes));
	instret_step = 4000;
	assert_true(notify_once());
	instret_step = 0;
	assert_int_equal(driver_take(&drivers[1]), 1);
	assert_int_equal(driver_take(&drivers[2]), 0);
}

/* The driver changes a frame that has counted: it becomes no longer, and no other one is free. */
static void a_frame_that_grows(void **state)
{
	struct driver *d = &drivers[0];

	(void)state;
	for (uint32_t more = 0; more < 3; more++) {
		uint32_t length = HEADER + 200 + more - 1;

		start(2, 1600);
		begin_broadcast(200);
		driver_describe(d, PORT_SENDS, 0,
		                driver_address(d, driver_buffer(d, PORT_SENDS, 0)), length, 0, 0);
		assert_false(notify_once());
		assert_int_equal(driver_take(&drivers[2]), more < 2);
		assert_int_equal(driver_counts(d).refused, more == 2);
		sent = more < 2, sent_bytes = more < 2 ? length - HEADER : 0, refused = more == 2;
		send(1600 - 200 + 1, false);
		send(1600 - 200, true);
		send(LEAST, false);
	}
}

/* The device is reset while a frame is on its way: the next one is no part of that. */
static void a_frame_that_is_not_done(void **state)
{
	(void)state;
	start(2, 0);
	begin_broadcast(200);
	driver_start(&drivers[0], 0, 0, 0, QUEUE);
	send(60, true);
	send(60, false);
}

/* Neither a reset of the device nor a new life gives a VM more. */
static void lives(void **state)
{
	(void)state;
	start(2, 3000);
	send_all(2, 60, true);
	driver_start(&drivers[0], 0, 0, 0, QUEUE);
	send(60, false);
	ports_reset(&stations[0], false);
	ports_reset(&stations[0], true);
	sent = sent_bytes = refused = 0;
	driver_start(&drivers[0], 0, 0, 0, QUEUE);
	send_all(2, 60, false);
	machine_time += PERIOD;
	send_all(2, 60, true);
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames),
	    cmocka_unit_test(periods),
	    cmocka_unit_test(bytes),
	    cmocka_unit_test(both),
	    cmocka_unit_test(without),
	    cmocka_unit_test(refused_otherwise),
	    cmocka_unit_test(frames_to_nobody),
	    cmocka_unit_test(others_have_none),
	    cmocka_unit_test(time_wraps),
	    cmocka_unit_test(time_of_another_hart),
	    cmocka_unit_test(slow_clocks),
	    cmocka_unit_test(in_any_time),
	    cmocka_unit_test(frames_in_several_stays),
	    cmocka_unit_test(a_frame_that_grows),
	    cmocka_unit_test(a_frame_that_is_not_done),
	    cmocka_unit_test(lives),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
