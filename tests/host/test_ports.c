/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of networks, in front of drivers as the specification has them, and of hostile ones: the
 * device, the switch, stays and lives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_plain.h"

#define CONFIG 0x300U
#define MORE   1U /* flags of descriptors */
#define WRITES 2U

static const uint8_t unknown[6] = {2, 0, 0, 0, 0, 99};

/* --- the device ---------------------------------------------------------------------------- */

static void its_configuration(void **state)
{
	(void)state;
	plain_start(0, 4);
	for (uint32_t i = 0; i < STATIONS; i++) {
		const struct driver *d = &plain_drivers[i];

		assert_int_equal(space(d, PCI_ID), 0x10411af4);
		assert_int_equal(space(d, PCI_CLASS), 0x02000001);
		assert_int_equal(space(d, PCI_BAR), GUEST_PORT_BASE);
		for (uint32_t n = 0; n < 6; n++)
			assert_int_equal(in(d, CONFIG + n, 1), macs[i][n]);
		assert_int_equal(in(d, CONFIG + 6, 2), 1);
		assert_int_equal(in(d, CONFIG + 8, 2), 1);
		assert_int_equal(in(d, CONFIG + 10, 2), 1500);
		assert_int_equal(in(d, CONFIG + 12, 4), 0);
		assert_int_equal(in(d, CONFIG + 0xfc, 4), 0);
		out(d, CONFIG, 0xff, 1);
		assert_int_equal(in(d, CONFIG, 1), macs[i][0]);
		out(d, 0, 0, 4);
		assert_int_equal(in(d, 4, 4), 0x30010028);
		out(d, 0, 1, 4);
		assert_int_equal(in(d, 4, 4), 1);
		out(d, 0x16, 0, 2);
		assert_int_equal(in(d, 0x12, 2), 2);
	}
	/* A second port has a page, and a function, of its own. */
	driver_start(&plain_drivers[0], 0, 1, 0, 4);
	assert_int_equal(space(&plain_drivers[0], PCI_BAR), GUEST_PORT_BASE + GUEST_PORT_STEP);
}

/* --- the switch ---------------------------------------------------------------------------- */

static void frames_go_to_their_port(void **state)
{
	static const uint8_t reserved[6] = {1, 0x80, 0xc2, 0, 0, 0x0f};
	static const uint8_t group[6] = {1, 0x80, 0xc2, 0, 0, 0x10};
	uint8_t *last;

	(void)state;
	plain_start(0, QUEUE);
	for (uint32_t from = 0; from < 3; from++) {
		for (uint32_t to = 0; to < 3; to++) {
			plain_send(from, macs[to], 60);
			plain_assert_got(from == to ? 0 : 1U << to, 1);
		}
	}
	plain_send(0, broadcast, 100);
	plain_assert_got(6, 1);
	/* What nobody has goes to the uplink, but for the uplink's own. */
	plain_send(0, macs[3], 60);
	plain_send(1, unknown, 60);
	assert_int_equal(driver_used(&plain_drivers[2], PORT_RECEIVES) - plain_drivers[2].got[0],
	                 2);
	(void)driver_take(&plain_drivers[2]);
	plain_drivers[2].wrong = 0; /* not to its own MAC */
	plain_send(2, unknown, 60);
	plain_send(0, reserved, 60);
	plain_assert_got(0, 0);
	plain_send(0, group, 60);
	last = driver_buffer(&plain_drivers[1], PORT_RECEIVES, plain_drivers[1].got[0] % QUEUE);
	assert_memory_equal(last + HEADER, group, 6);
	assert_int_equal(driver_take(&plain_drivers[1]), 1);
	assert_int_equal(driver_take(&plain_drivers[2]), 1);
	/* 3 + 1 + 1 + 1 + 1; VM 2 has 2 + 1 + 2 + 1 of them. */
	plain_assert_counts(0, 7, 0, 2, 0);
	plain_assert_counts(2, 4, 0, 6, 0);
	plain_assert_counts(3, 0, 0, 0, 0);
	/* The other network. */
	driver_start(&plain_drivers[0], 0, 1, 0, QUEUE);
	plain_drivers[3].wrong = plain_drivers[1].wrong = plain_drivers[2].wrong = 0;
	plain_send(0, broadcast, 60);
	plain_assert_got(8, 1);
	plain_send(3, macs[0], 60);
	plain_assert_got(1, 1);
	plain_send(3, macs[1], 60);
	plain_assert_got(0, 0);
}

/* Offers a frame whose source is this one. */
static void send_as(uint32_t from, const uint8_t source[6], const uint8_t to[6])
{
	struct driver *d = &plain_drivers[from];
	uint32_t slot = d->given[PORT_SENDS] % QUEUE;

	assert_true(driver_frame(d, to, 1, 60));
	memcpy(driver_buffer(d, PORT_SENDS, slot) + HEADER + 6, source, 6);
	driver_notify(d);
}

static void nobody_poses_as_another(void **state)
{
	static const uint8_t group[6] = {3, 0, 0, 0, 0, 99};

	(void)state;
	plain_start(0, QUEUE);
	send_as(0, macs[1], macs[2]);
	send_as(0, unknown, macs[2]);
	send_as(0, broadcast, macs[2]);
	send_as(1, macs[2], macs[0]);
	send_as(2, macs[0], macs[1]);
	send_as(2, macs[1], macs[0]);
	send_as(2, group, macs[0]);
	plain_assert_got(0, 0);
	plain_assert_counts(0, 0, 3, 0, 0);
	plain_assert_counts(1, 0, 1, 0, 0);
	plain_assert_counts(2, 0, 3, 0, 0);
	/* The uplink is a bridge: others are behind it. */
	send_as(2, unknown, macs[0]);
	send_as(2, macs[3], macs[1]);
	plain_assert_counts(2, 2, 3, 0, 0);
	plain_assert_counts(0, 0, 3, 1, 0);
	plain_assert_counts(1, 0, 1, 1, 0);
}

static void sizes(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	plain_start(0, QUEUE);
	for (uint32_t size = LEAST; size <= MOST; size++, bytes += size - 1) {
		plain_send(0, macs[1], size);
		plain_assert_got(2, 1);
	}
	plain_assert_counts(0, MOST - LEAST + 1, 0, 0, 0);
	assert_int_equal(driver_counts(&plain_drivers[0]).sent_bytes, bytes);
	assert_int_equal(driver_counts(&plain_drivers[1]).received_bytes, bytes);
	plain_send(0, macs[1], LEAST - 1);
	plain_send(0, macs[1], MOST + 1);
	plain_assert_got(0, 0);
	plain_assert_counts(0, MOST - LEAST + 1, 2, 0, 0);
	plain_assert_status(0, 0xf);
}

/* --- stays --------------------------------------------------------------------------------- */

/* Time goes on by so many instructions with each look: the store is done in several stays. Each
 * port gets each frame once, and the sender's interrupts come between two stays. */
static void frames_in_several_stays(void **state)
{
	(void)state;
	for (uint32_t step = 0; step <= 4000; step += 500) {
		uint32_t stays = 0;

		plain_start(0, QUEUE);
		for (uint32_t n = 0; n < QUEUE; n++)
			assert_true(driver_frame(&plain_drivers[0], broadcast, n, 300));
		instret_step = step;
		do {
			driver_vcpu->call.again = false;
			out(&plain_drivers[0], 0x104, 1, 2);
			stays++;
			assert_true(stays < 100);
			/* The rest is sent although the driver offers no more. */
			assert_int_equal(driver_vcpu->call.again,
			                 driver_counts(&plain_drivers[0]).sent < QUEUE);
		} while (driver_vcpu->call.again);
		assert_true(step < 2500 || stays == 2 * QUEUE);
		assert_true(step || stays == 1);
		plain_assert_got(6, QUEUE);
		plain_assert_counts(0, QUEUE, 0, 0, 0);
		plain_assert_counts(1, 0, 0, QUEUE, 0);
		plain_assert_counts(2, 0, 0, QUEUE, 0);
	}
}

/* The window in configuration space notifies, too: in a long call. */
static void by_the_window(void **state)
{
	uint32_t at = PCI_FIRST_CAP + 4 * 20, slices = 0;
	bool more = true;

	(void)state;
	plain_start(0, QUEUE);
	for (uint32_t n = 0; n < QUEUE; n++)
		assert_true(driver_frame(&plain_drivers[0], macs[1], n, 60));
	instret_step = 1000;
	set_space(&plain_drivers[0], at + 8, 0x104);
	set_space(&plain_drivers[0], at + 12, 2);
	driver_vcpu->call.slice = NULL;
	driver_vcpu->vm = &stations[0];
	set_space(&plain_drivers[0], at + 16, 1);
	assert_non_null(driver_vcpu->call.slice);
	for (; more && slices < 100; slices++)
		more = driver_vcpu->call.slice(driver_vcpu);
	assert_true(slices > 1 && slices < 100);
	plain_assert_got(2, QUEUE);
	/* That of buffers to receive does nothing. */
	driver_vcpu->call.slice = NULL;
	set_space(&plain_drivers[0], at + 8, 0x100);
	set_space(&plain_drivers[0], at + 16, 0);
	assert_null(driver_vcpu->call.slice);
}

/* --- lives --------------------------------------------------------------------------------- */

static void nothing_after_the_end(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		plain_start(0, QUEUE);
		plain_send(0, macs[1], 60);
		plain_assert_got(2, 1);
		if (how)
			out(&plain_drivers[1], STATUS, 0, 1);
		else
			ports_reset(&stations[1], false);
		assert_true(!how || !levels[1]);
		memcpy(before, rams[1], BYTES);
		plain_send(0, broadcast, 60);
		driver_notify(&plain_drivers[1]);
		assert_memory_equal(before, rams[1], BYTES);
		plain_assert_counts(1, 0, 0, 1, 1);
		if (!how)
			ports_reset(&stations[1], true);
		plain_assert_counts(1, 0, 0, how, how);
		driver_start(&plain_drivers[1], 1, 0, 0, QUEUE);
		(void)driver_take(&plain_drivers[2]);
		plain_send(0, macs[1], 90);
		plain_assert_got(2, 1);
	}
}

/* A life that ends in the middle of a frame for all leaves nothing for the next one. */
static void a_frame_that_is_not_done(void **state)
{
	(void)state;
	plain_start(0, QUEUE);
	assert_true(driver_frame(&plain_drivers[0], broadcast, 1, 300));
	instret_step = 4000;
	out(&plain_drivers[0], 0x104, 1, 2);
	assert_true(driver_vcpu->call.again);
	plain_assert_got(2, 1);
	ports_reset(&stations[0], false);
	ports_reset(&stations[0], true);
	driver_start(&plain_drivers[0], 0, 0, 0, QUEUE);
	instret_step = 0;
	plain_send(0, broadcast, 60);
	plain_assert_got(6, 1);
}

/* --- hostile drivers ----------------------------------------------------------------------- */

static void spoil(struct chance *c, const struct driver *d)
{
	uint32_t queue = below(c, PORT_QUEUES), n = below(c, QUEUE);
	uint8_t *at = driver_buffer(d, queue, below(c, QUEUE)) + below(c, ROOM);
	uint64_t address =
	    percent(c, 90) ? driver_address(d, at) : RAM + below(c, BYTES + 2 * ROOM) - ROOM;

	driver_describe(
	    d, queue, n, address, percent(c, 90) ? 1 + below(c, ROOM) : (uint32_t)chance(c),
	    percent(c, 90) ? (queue ? 0 : WRITES) | (percent(c, 30) ? MORE : 0) : below(c, 8),
	    percent(c, 90) ? below(c, QUEUE) : (uint32_t)chance(c));
}

/* One hostile VM, VM 1, with random descriptors, indexes, registers and resets, beside honest ones:
 * what it does changes no memory but its own and honest buffers that were given for frames, and no
 * honest frame between others. */
static void beside_a_hostile_driver(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct chance c = {seed};
		struct driver *bad = &plain_drivers[1];

		plain_start(percent(&c, 50) ? INDIRECT : 0, QUEUE);
		memcpy(before, rams[3], BYTES);
		for (uint32_t step = 0; step < 200; step++) {
			instret_step = percent(&c, 20) ? below(&c, 3000) : 0;
			if (percent(&c, 70))
				spoil(&c, bad);
			if (percent(&c, 60))
				driver_offer(bad, below(&c, PORT_QUEUES), below(&c, QUEUE + 1));
			if (percent(&c, 5))
				out(bad, below(&c, 0x400), chance(&c), 1U << below(&c, 3));
			if (percent(&c, 5) && !driver_is_in_slot(bad))
				set_space(bad, below(&c, 40) * 4, (uint32_t)chance(&c));
			out(bad, 0x104, 1, 2);
			if (in(bad, STATUS, 1) != 0xf && percent(&c, 30))
				driver_start(bad, 1, 0, percent(&c, 50) ? INDIRECT : 0,
				             below(&c, QUEUE + 1));
			instret_step = 0;
			/* What it has sent to VM 2 may have any contents. */
			(void)driver_take(&plain_drivers[0]);
			(void)driver_take(&plain_drivers[2]);
			plain_drivers[0].wrong = plain_drivers[2].wrong = 0;
			plain_send(0, macs[2], 60 + below(&c, 1400));
			assert_int_equal(driver_take(&plain_drivers[2]), 1);
			assert_int_equal(plain_drivers[2].wrong, 0);
		}
		assert_memory_equal(before, rams[3], BYTES);
		assert_int_equal(driver_counts(&plain_drivers[0]).refused, 0);
		plain_assert_status(0, 0xf);
		plain_assert_status(2, 0xf);
	}
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest functions[] = {
	    cmocka_unit_test(its_configuration),
	    cmocka_unit_test(by_the_window),
	};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_go_to_their_port),
	    cmocka_unit_test(nobody_poses_as_another),
	    cmocka_unit_test(sizes),
	    cmocka_unit_test(frames_in_several_stays),
	    cmocka_unit_test(nothing_after_the_end),
	    cmocka_unit_test(a_frame_that_is_not_done),
	    cmocka_unit_test(beside_a_hostile_driver),
	};
	int failed;

	driver_vcpu = &vcpu;
	failed = cmocka_run_group_tests(functions, NULL, NULL);
	return failed + plain_run(tests);
}
