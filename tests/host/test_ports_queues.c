/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of ports of networks: buffers in parts, what is malformed, indexes and events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/ports_plain.h"

#define ISR    0x200U
#define CONFIG 0x300U
#define BROKEN 0x4fU /* the status of a driver that has to reset the device */
#define MORE   1U    /* flags of descriptors */
#define WRITES 2U
#define LEADS  4U

/* Cuts a buffer of so many bytes into n parts, the first ones of `step` bytes each, from descriptor
 * `first` of the table at this place on. */
static void cut(const struct driver *d, uint32_t queue, uint32_t first, const uint8_t *at,
                uint32_t size, uint32_t n, uint32_t step, uint32_t flags)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t part = i + 1 == n ? size : step;

		driver_describe(d, queue, first + i, driver_address(d, at), part,
		                flags | (i + 1 < n ? MORE : 0), first + i + 1);
		at += part;
		size -= part;
	}
}

/* Puts the descriptors from `first` on into a table of their own, to which descriptor `head`
 * leads. It may be anywhere: here each n has another alignment. */
static void lead(const struct driver *d, uint32_t queue, uint32_t head, uint32_t first, uint32_t n)
{
	uint8_t *from = driver_area(d, queue, VIRTIO_DESCRIPTORS) + 16UL * first;
	uint8_t *to = driver_area(d, queue, VIRTIO_DESCRIPTORS) + 0x800 + n;

	memcpy(to, from, 16UL * n);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t next = (uint16_t)(i + 1);

		memcpy(to + 16UL * i + 14, &next, 2);
	}
	driver_describe(d, queue, head, driver_address(d, to), 16 * n, LEADS, 0);
}

static void buffers_in_parts(void **state)
{
	(void)state;
	for (uint32_t leads = 0; leads < 2; leads++) {
		for (uint32_t parts = 1; parts <= 7; parts++) {
			for (uint32_t step = 1; step <= 30; step++) {
				struct driver *d = &plain_drivers[0];

				plain_start(leads ? INDIRECT : 0, 0);
				assert_true(driver_frame(d, macs[1], 5, 300));
				cut(d, PORT_SENDS, leads, driver_buffer(d, PORT_SENDS, 0),
				    HEADER + 300, parts, step, 0);
				if (leads)
					lead(d, PORT_SENDS, 0, 1, parts);
				d = &plain_drivers[1];
				cut(d, PORT_RECEIVES, leads, driver_buffer(d, PORT_RECEIVES, 0),
				    HEADER + MOST, parts % 3 + 1, 31 - step, WRITES);
				if (leads)
					lead(d, PORT_RECEIVES, 0, 1, parts % 3 + 1);
				driver_offer(d, PORT_RECEIVES, 0);
				driver_notify(&plain_drivers[0]);
				plain_assert_got(parts <= 6 ? 2 : 0, 1);
				plain_assert_status(0, parts <= 6 ? 0xf : BROKEN);
				plain_assert_status(1, 0xf);
			}
		}
	}
}

static void set_byte(const struct driver *d, uint32_t queue, uint32_t which, uint32_t offset,
                     uint32_t value)
{
	uint8_t *at = driver_area(d, queue, which);

	at[offset] = (uint8_t)value;
}

/* Spoils the first buffer of a queue, or the queue. */
static void malformed(uint32_t queue, uint32_t what)
{
	struct driver *d = &plain_drivers[queue == PORT_SENDS ? 0 : 1];
	uint8_t *at = driver_buffer(d, queue, 0);
	uint64_t address = driver_address(d, at);
	uint32_t good = queue == PORT_SENDS ? 0 : WRITES;
	const struct {
		uint64_t address;
		uint32_t size, flags, next;
	} bad[] = {
	    {RAM + BYTES - 99, 100, good, 0}, /* beyond its memory */
	    {RAM - 1, 100, good, 0},
	    {~UINT64_C(0), 100, good, 0},
	    {address, 0, good, 0},
	    {address, ~0U, good, 0},
	    {address, 100, good ^ WRITES, 0}, /* in the other direction */
	    {address, 100, good | MORE, 16},  /* goes on outside the table */
	    {address, 100, good | MORE, 0},   /* a circle */
	    {address, 96, LEADS, 0},          /* data as a table */
	    {address, 95, LEADS, 0},          /* not of whole descriptors */
	    {address, 96, LEADS | MORE, 1},   /* goes on after a table */
	    {RAM + BYTES - 16, 96, LEADS, 0},
	    {address, 0, LEADS, 0},
	};

	if (what < ARRAY_SIZE(bad))
		driver_describe(d, queue, 0, bad[what].address, bad[what].size, bad[what].flags,
		                bad[what].next);
	else if (what == ARRAY_SIZE(bad)) /* a table that leads to itself */
		driver_describe(d, queue, 0,
		                driver_address(d, driver_area(d, queue, VIRTIO_DESCRIPTORS)), 16,
		                LEADS, 0);
	else if (what == ARRAY_SIZE(bad) + 1) { /* a good table, and more after it */
		driver_describe(d, queue, 1, address, HEADER + 300, good, 0);
		lead(d, queue, 0, 1, 1);
		set_byte(d, queue, VIRTIO_DESCRIPTORS, 12, LEADS | MORE);
	} else if (what == ARRAY_SIZE(bad) + 2) /* a head outside the table */
		set_byte(d, queue, VIRTIO_AVAILABLE, 4, QUEUE);
	else /* more buffers than it has */
		set_byte(d, queue, VIRTIO_AVAILABLE, 2, QUEUE + 1);
}

static void malformed_queues(void **state)
{
	(void)state;
	for (uint32_t what = 0; what < 17; what++) {
		for (uint32_t queue = 0; queue < PORT_QUEUES; queue++) {
			uint32_t broken = queue == PORT_SENDS ? 0 : 1;

			plain_start(INDIRECT, 1);
			assert_true(driver_frame(&plain_drivers[0], macs[1], 5, 300));
			memset(driver_buffer(&plain_drivers[1], PORT_RECEIVES, 0), 0, ROOM);
			malformed(queue, what);
			driver_notify(&plain_drivers[0]);
			plain_assert_got(0, 0);
			plain_assert_status(broken, BROKEN);
			plain_assert_status(1 - broken, 0xf);
			assert_true(levels[broken]);
			assert_int_equal(in(&plain_drivers[broken], ISR, 1) & 2, 2);
			plain_assert_counts(0, queue == PORT_RECEIVES, 0, 0, 0);
			plain_assert_counts(1, 0, 0, 0, queue == PORT_RECEIVES);
			/* It stays so until the reset, and works then. */
			driver_notify(&plain_drivers[0]);
			driver_start(&plain_drivers[broken], broken, 0, 0, 2);
			plain_send(0, macs[1], 300);
			plain_assert_got(2, 1);
		}
	}
}

/* Areas that are misaligned, or outside its memory. */
static void malformed_areas(void **state)
{
	(void)state;
	for (uint32_t queue = 0; queue < PORT_QUEUES; queue++) {
		for (uint32_t area = 0; area < 6; area++) {
			const struct driver *d = &plain_drivers[1];

			plain_start(0, 1);
			out(d, STATUS, 0, 1);
			out(d, STATUS, 3, 1);
			out(d, 0x08, 1, 4);
			out(d, 0x0c, 1, 4);
			out(d, STATUS, 0xb, 1);
			for (uint32_t q = 0; q < PORT_QUEUES; q++) {
				out(d, 0x16, q, 2);
				out(d, 0x18, QUEUE, 2);
				for (uint32_t i = 0; i < 3; i++) {
					uint64_t at = driver_address(d, driver_area(d, q, i));

					if (q == queue && i == area % 3)
						at = area < 3 ? at + 1 : RAM + BYTES - 16;
					out(d, 0x20 + 8 * i, at, 4);
				}
				out(d, 0x1c, 1, 2);
			}
			out(d, STATUS, 0xf, 1);
			plain_assert_status(1, BROKEN);
			plain_send(0, macs[1], 60);
			plain_assert_counts(1, 0, 0, queue == PORT_SENDS, queue == PORT_RECEIVES);
			driver_notify(d);
			plain_assert_counts(1, 0, 0, queue == PORT_SENDS, queue == PORT_RECEIVES);
		}
	}
}

/* Indexes wrap at the size, and at 2^16. */
static void indexes_wrap(void **state)
{
	(void)state;
	for (uint32_t events = 0; events < 2; events++) {
		plain_start(events ? EVENT_IDX : 0, QUEUE);
		for (uint32_t n = 0; n < 0x10010; n++) {
			plain_send(n & 1, macs[1 - (n & 1)], 60 + n % 7);
			assert_int_equal(driver_take(&plain_drivers[1 - (n & 1)]), 1);
		}
		assert_int_equal(plain_drivers[0].wrong + plain_drivers[1].wrong, 0);
		plain_assert_counts(0, 0x8008, 0, 0x8008, 0);
	}
}

static uint16_t *last_word(const struct driver *d, uint32_t queue, uint32_t which)
{
	uint32_t n = which == VIRTIO_AVAILABLE ? 2 + QUEUE : 2 + 4 * QUEUE;

	return (uint16_t *)(void *)driver_area(d, queue, which) + n;
}

/* An interrupt comes for the buffer that the driver names, and the device names the next one. */
static void event_indexes(void **state)
{
	const struct driver *to = &plain_drivers[1];

	(void)state;
	plain_start(EVENT_IDX, QUEUE);
	*last_word(to, PORT_RECEIVES, VIRTIO_AVAILABLE) = 2;
	*last_word(&plain_drivers[0], PORT_SENDS, VIRTIO_AVAILABLE) = 99;
	for (uint32_t n = 0; n < 5; n++) {
		plain_send(0, macs[1], 60);
		assert_int_equal(raised[1], n >= 2);
		assert_int_equal(*last_word(&plain_drivers[0], PORT_SENDS, VIRTIO_USED), n + 1);
		if (levels[1])
			assert_int_equal(in(to, ISR, 1), 1);
		assert_false(levels[1]);
	}
	assert_int_equal(raised[0], 0);
	*last_word(&plain_drivers[0], PORT_SENDS, VIRTIO_AVAILABLE) = 5;
	plain_send(0, macs[1], 60);
	assert_int_equal(raised[0], 1);
	/* Without event indexes: unless the driver does not want any. */
	plain_start(0, QUEUE);
	set_byte(&plain_drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 0, 1);
	plain_send(0, macs[1], 60);
	assert_int_equal(raised[1], 0);
	assert_int_equal(raised[0], 1);
	set_byte(&plain_drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 0, 0);
	plain_send(0, macs[1], 60);
	assert_int_equal(raised[1], 1);
	if (driver_is_in_slot(&plain_drivers[1]))
		return;
	set_space(&plain_drivers[1], PCI_COMMAND, MASTERS | NO_INTX);
	assert_false(levels[1]);
	plain_send(0, macs[1], 60);
	assert_false(levels[1]);
	set_space(&plain_drivers[1], PCI_COMMAND, MASTERS);
	assert_true(levels[1]);
}

static void without_buffers(void **state)
{
	(void)state;
	plain_start(0, 2);
	for (uint32_t n = 0; n < 5; n++)
		plain_send(0, broadcast, 600);
	plain_assert_got(6, 2);
	plain_assert_counts(0, 5, 0, 0, 0);
	plain_assert_counts(1, 0, 0, 2, 3);
	plain_assert_counts(2, 0, 0, 2, 3);
	/* One that is too small waits for a smaller frame. */
	plain_start(0, 0);
	driver_describe(
	    &plain_drivers[1], PORT_RECEIVES, 0,
	    driver_address(&plain_drivers[1], driver_buffer(&plain_drivers[1], PORT_RECEIVES, 0)),
	    HEADER + 100, WRITES, 0);
	driver_offer(&plain_drivers[1], PORT_RECEIVES, 0);
	plain_send(0, macs[1], 101);
	plain_assert_got(0, 0);
	plain_send(0, macs[1], 100);
	plain_assert_got(2, 1);
	plain_assert_counts(1, 0, 0, 1, 1);
	/* Without a driver, or if it may not master the bus; it goes on where it was. */
	plain_start(0, 3);
	plain_send(0, macs[2], 60);
	plain_send(2, macs[0], 60);
	plain_assert_got(5, 1);
	out(&plain_drivers[1], STATUS, 0, 1);
	if (driver_is_in_slot(&plain_drivers[2]))
		return;
	set_space(&plain_drivers[2], PCI_COMMAND, 2);
	plain_send(0, broadcast, 60);
	plain_assert_got(0, 0);
	plain_assert_counts(1, 0, 0, 0, 1);
	set_space(&plain_drivers[2], PCI_COMMAND, MASTERS);
	plain_send(0, broadcast, 60);
	plain_send(2, macs[0], 60);
	plain_assert_got(5, 1);
	plain_assert_counts(2, 2, 0, 2, 1);
}

/* An interrupt for each change; what goes from and to the port meanwhile is lost. */
static void a_link_that_is_down(void **state)
{
	const struct driver *d = &plain_drivers[1];

	(void)state;
	plain_start(0, QUEUE);
	for (uint32_t n = 0; n < 4; n++) {
		bool up = n & 1;

		port_link(&stations[1], 0, up);
		port_link(&stations[1], 0, up);
		assert_int_equal(port_is_up(&stations[1], 0), up);
		assert_int_equal(raised[1], n + 1);
		assert_int_equal(in(d, ISR, 1), 2);
		assert_int_equal(in(d, CONFIG + 6, 2), up);
		assert_int_equal(in(d, 0x15, 1), n + 1);
	}
	port_link(&stations[1], 0, false);
	plain_send(0, macs[1], 60);
	plain_send(0, broadcast, 60);
	plain_assert_got(4, 1);
	plain_send(1, macs[0], 60);
	plain_assert_got(0, 0);
	plain_assert_counts(0, 2, 0, 0, 0);
	plain_assert_counts(1, 1, 0, 0, 3);
	port_link(&stations[1], 0, true);
	plain_send(0, macs[1], 60);
	plain_assert_got(2, 1);
	/* Nobody is told whose driver is not ready. */
	out(d, STATUS, 0, 1);
	port_link(&stations[1], 0, false);
	assert_false(levels[1]);
	assert_int_equal(in(d, CONFIG + 6, 2), 0);
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buffers_in_parts),    cmocka_unit_test(malformed_queues),
	    cmocka_unit_test(malformed_areas),     cmocka_unit_test(indexes_wrap),
	    cmocka_unit_test(event_indexes),       cmocka_unit_test(without_buffers),
	    cmocka_unit_test(a_link_that_is_down),
	};

	driver_vcpu = &vcpu;
	return plain_run(tests);
}
