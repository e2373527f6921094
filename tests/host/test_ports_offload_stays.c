/* SPDX-License-Identifier: Apache-2.0 */
/* Frames with offloads in several stays, between which drivers do anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/ports_large.h"

/* Whatever time has gone by with each look, all is done, and the driver sees it at the end. */
static void frames_in_several_stays(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint32_t step = 0; step <= 5000; step += 100) {
		uint32_t stays = 1;

		large_start(0, 43, 1536);
		instret_step = step;
		large_offer_frame(0, macs[1], LARGEST, large_tcp, PARTS, 3);
		for (; large_notify_once(0); stays++) {
			large_assert_no_frame(1);
			large_assert_counts(0, 0, 0, 0, 0);
			assert_true(stays < 200);
		}
		large_assert_frame(1, 0, macs[1], LARGEST, large_tcp, true);
		large_assert_counts(0, 1, 0, 0, 0);
		last = stays;
	}
	assert_true(last > 60);
}

/* Begins a frame from VM `from` to VM 1: a buffer is taken with each stay. */
static void begin(uint32_t from, uint32_t size, uint32_t stays)
{
	large_offer_frame(from, macs[1], size, large_tcp, 1, 0);
	instret_step = 4000;
	for (uint32_t i = 0; i < stays; i++)
		assert_true(large_notify_once(from));
	instret_step = 0;
}

static void two_senders(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 60; stays++) {
		large_start(0, ENTRIES, 1500);
		begin(0, 60000, stays);
		/* VM 2, the uplink, sends meanwhile. */
		large_send(2, macs[1], 20000, large_tcp);
		large_assert_frame(1, 2, macs[1], 20000, large_tcp, true);
		large_notify(0);
		large_assert_frame(1, 0, macs[1], 60000, large_tcp, true);
		large_assert_counts(1, 0, 0, 2, 0);
	}
}

/* Buffers go back in which there is nothing, if others were taken since. */
static void two_senders_and_too_few(void **state)
{
	uint32_t head, size;

	(void)state;
	large_start(0, 6, 4000);
	begin(0, 30000, 3);
	large_send(2, macs[1], 100, large_none);
	large_notify(0);
	large_assert_frame(1, 2, macs[1], 100, large_none, true);
	for (uint32_t i = 0; i < 5; i++) {
		large_next_used(1, &head, &size);
		assert_int_equal(size, 0);
		assert_int_equal(head, i < 3 ? i : i + 1);
		large_offer(1, PORT_RECEIVES, head);
	}
	large_assert_no_frame(1);
	large_assert_counts(0, 1, 0, 0, 0);
	large_assert_counts(1, 0, 0, 1, 1);
	large_send(0, macs[1], 20000, large_tcp);
	large_assert_frame(1, 0, macs[1], 20000, large_tcp, true);
}

/* What the driver changes while a frame is on its way changes neither its header nor its way. */
static void a_frame_that_changes(void **state)
{
	(void)state;
	/* Before the first byte is copied, and behind the header. */
	for (uint32_t stays = 1; stays < 32; stays += 10) {
		large_start(0, 16, 4352);
		begin(0, 60000, stays);
		memset(large_memory(0, SENT), 0xff, HEADER);
		memcpy(large_memory(0, SENT + HEADER), macs[2], 6);
		memcpy(large_memory(0, SENT + HEADER + 6), macs[2], 6);
		driver_describe(&large_drivers[0], PORT_SENDS, 0, RAM, 100, 0, 0);
		large_notify(0);
		large_assert_frame(1, 0, macs[1], 60000, large_tcp, true);
		large_assert_no_frame(2);
		assert_int_equal(driver_counts(&large_drivers[0]).sent_bytes, 60000);
	}
}

static void the_receiver_is_reset(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint32_t stays = 1; stays < 60; stays += 3) {
		large_start(0, 24, 4000);
		begin(0, LARGEST, stays);
		if (stays & 1)
			out(&large_drivers[1], STATUS, 0, 1);
		else
			ports_reset(&stations[1], false), ports_reset(&stations[1], true);
		memcpy(before, rams[1], BYTES);
		if (stays % 4) { /* it is set up again meanwhile */
			large_open_port(1, 0, 24, 4000);
			memcpy(before, rams[1], BYTES);
		}
		large_notify(0);
		assert_memory_equal(before, rams[1], BYTES);
		large_assert_counts(0, 1, 0, 0, 0);
		large_assert_counts(1, 0, 0, 0, 1);
		large_open_port(1, 0, 24, 4000);
		large_send(0, macs[1], LARGEST, large_tcp);
		large_assert_frame(1, 0, macs[1], LARGEST, large_tcp, true);
	}
}

/* A driver enables its other queue while a frame is on its way: to where it was. */
static void a_queue_that_starts_later(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 4; stays++) {
		large_start(0, 24, 4000);
		large_only_sends = true;
		large_open_port(0, 0, 0, 4000);
		large_only_sends = false;
		large_offer_frame(0, broadcast, LARGEST, large_tcp, 1, 0);
		instret_step = 4000;
		while (!large_used(1))
			assert_true(large_notify_once(0));
		for (uint32_t i = 0; i < stays; i++)
			assert_true(large_notify_once(0));
		instret_step = 0;
		out(&large_drivers[0], 0x16, PORT_RECEIVES, 2);
		out(&large_drivers[0], 0x1c, 1, 2);
		large_notify(0);
		for (uint32_t i = 1; i < 3; i++) {
			large_assert_frame(i, 0, broadcast, LARGEST, large_tcp, true);
			large_assert_no_frame(i);
			large_assert_counts(i, 0, 0, 1, 0);
		}
	}
}

/* A stop is no reset: what was taken before it is still the frame's. */
static void the_receiver_stops_for_a_moment(void **state)
{
	(void)state;
	large_start(0, 24, 4000);
	begin(0, LARGEST, 5);
	set_space(&large_drivers[1], PCI_COMMAND, 0);
	out(&large_drivers[1], 0x16, 1, 2);
	set_space(&large_drivers[1], PCI_COMMAND, MASTERS);
	large_notify(0);
	large_assert_frame(1, 0, macs[1], LARGEST, large_tcp, true);
}

/* The buffers are there for others, and the next frame is no part of this one. */
static void the_sender_is_reset(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 35; stays++) {
		large_start(0, 17, 4000);
		begin(0, LARGEST, stays);
		if (stays & 1)
			ports_reset(&stations[0], false), ports_reset(&stations[0], true);
		large_open_port(0, 0, 17, 4000);
		large_assert_no_frame(1);
		large_assert_counts(0, 0, 0, 0, 0);
		large_send(2, macs[1], LARGEST, large_tcp);
		large_assert_frame(1, 2, macs[1], LARGEST, large_tcp, true);
		large_send(0, macs[1], 66, large_none);
		large_assert_frame(1, 0, macs[1], 66, large_none, true);
		large_assert_counts(1, 0, 0, 2, 0);
	}
}

/* The driver waits for one of the buffers that come back so: it is told with the next frame. */
static void a_driver_is_told_later(void **state)
{
	uint32_t head, size;

	(void)state;
	large_start(EVENT_IDX, 20, 4000);
	*driver_word(&large_drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 2 + ENTRIES) = 1;
	begin(0, LARGEST, 4);
	large_send(2, macs[1], 66, large_none);
	large_assert_frame(1, 2, macs[1], 66, large_none, false);
	assert_int_equal(raised[1], 0);
	large_open_port(0, EVENT_IDX, 20, 4000);
	assert_int_equal(raised[1], 0);
	for (uint32_t i = 0; i < 4; i++) {
		large_next_used(1, &head, &size);
		assert_int_equal(size, 0);
	}
	large_assert_no_frame(1);
	large_send(2, macs[1], 67, large_none);
	large_assert_frame(1, 2, macs[1], 67, large_none, false);
	assert_int_equal(raised[1], 1);
}

/* Of several buffers that come at once, the driver may have waited for any. */
static void event_indexes(void **state)
{
	(void)state;
	for (uint16_t event = 0; event < 8; event++) {
		large_start(EVENT_IDX, 16, 4000);
		large_send(0, macs[1], 66, large_none);
		large_assert_frame(1, 0, macs[1], 66, large_none, false);
		raised[1] = 0;
		levels[1] = false;
		(void)in(&large_drivers[1], 0x200, 1);
		*driver_word(&large_drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 2 + ENTRIES) =
		    event;
		large_send(0, macs[1], 20000 - HEADER, large_tcp);
		large_assert_frame(1, 0, macs[1], 20000 - HEADER, large_tcp, false);
		assert_int_equal(raised[1], event >= 1 && event <= 5);
	}
}

/* A cable that is pulled when buffers are taken already lets the frame pass. */
static void links(void **state)
{
	(void)state;
	large_start(0, 20, 4000);
	port_link(&stations[1], 0, false);
	large_send(0, macs[1], LARGEST, large_tcp);
	large_assert_counts(1, 0, 0, 0, 1);
	port_link(&stations[1], 0, true);
	begin(0, LARGEST, 5);
	port_link(&stations[1], 0, false);
	large_notify(0);
	large_assert_frame(1, 0, macs[1], LARGEST, large_tcp, true);
	large_assert_counts(1, 0, 0, 1, 1);
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_in_several_stays),
	    cmocka_unit_test(two_senders),
	    cmocka_unit_test(two_senders_and_too_few),
	    cmocka_unit_test(a_frame_that_changes),
	    cmocka_unit_test(the_receiver_is_reset),
	    cmocka_unit_test(a_queue_that_starts_later),
	    cmocka_unit_test(the_receiver_stops_for_a_moment),
	    cmocka_unit_test(the_sender_is_reset),
	    cmocka_unit_test(a_driver_is_told_later),
	    cmocka_unit_test(event_indexes),
	    cmocka_unit_test(links),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
