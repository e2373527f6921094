/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of networks, in front of drivers as the specification has them, and of hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_driver.h"

#define STATUS 0x14U
#define ISR    0x200U
#define CONFIG 0x300U
#define BROKEN 0x4fU /* the status of a driver that has to reset the device */
#define MORE   1U    /* flags of descriptors */
#define WRITES 2U
#define LEADS  4U

static struct driver drivers[STATIONS];

static const uint8_t unknown[6] = {2, 0, 0, 0, 0, 99};

/* All VMs have a driver; those of VM 0 is its first port's. */
static void start(uint64_t features, uint32_t buffers)
{
	instret_step = 0;
	stations_make();
	for (uint32_t i = 0; i < STATIONS; i++)
		driver_start(&drivers[i], i, 0, features, buffers);
}

static void send(uint32_t from, const uint8_t to[6], uint32_t size)
{
	assert_true(driver_frame(&drivers[from], to, size, size));
	driver_notify(&drivers[from]);
}

/* The counts of this driver's port: sent, refused, received, lost. */
static void assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                          uint64_t lost)
{
	struct port_counts counts = driver_counts(&drivers[i]);

	assert_int_equal(counts.sent, sent);
	assert_int_equal(counts.refused, refused);
	assert_int_equal(counts.received, received);
	assert_int_equal(counts.lost, lost);
}

/* Those of this mask have got n frames, all as they were sent, and the others none. */
static void assert_got(uint32_t mask, uint32_t n)
{
	for (uint32_t i = 0; i < STATIONS; i++) {
		assert_int_equal(driver_take(&drivers[i]), mask >> i & 1 ? n : 0);
		assert_int_equal(drivers[i].wrong, 0);
	}
}

static void assert_status(uint32_t i, uint32_t status)
{
	assert_int_equal(in(&drivers[i], STATUS, 1), status);
}

/* --- the device ---------------------------------------------------------------------------- */

static void its_configuration(void **state)
{
	(void)state;
	start(0, 4);
	for (uint32_t i = 0; i < STATIONS; i++) {
		const struct driver *d = &drivers[i];

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
	driver_start(&drivers[0], 0, 1, 0, 4);
	assert_int_equal(space(&drivers[0], PCI_BAR), GUEST_PORT_BASE + GUEST_PORT_STEP);
}

/* --- the switch ---------------------------------------------------------------------------- */

static void frames_go_to_their_port(void **state)
{
	static const uint8_t reserved[6] = {1, 0x80, 0xc2, 0, 0, 0x0f};
	static const uint8_t group[6] = {1, 0x80, 0xc2, 0, 0, 0x10};
	uint8_t *last;

	(void)state;
	start(0, QUEUE);
	for (uint32_t from = 0; from < 3; from++) {
		for (uint32_t to = 0; to < 3; to++) {
			send(from, macs[to], 60);
			assert_got(from == to ? 0 : 1U << to, 1);
		}
	}
	send(0, broadcast, 100);
	assert_got(6, 1);
	/* What nobody has goes to the uplink, but for the uplink's own. */
	send(0, macs[3], 60);
	send(1, unknown, 60);
	assert_int_equal(driver_used(&drivers[2], PORT_RECEIVES) - drivers[2].got[0], 2);
	(void)driver_take(&drivers[2]);
	drivers[2].wrong = 0; /* not to its own MAC */
	send(2, unknown, 60);
	send(0, reserved, 60);
	assert_got(0, 0);
	send(0, group, 60);
	last = driver_buffer(&drivers[1], PORT_RECEIVES, drivers[1].got[0] % QUEUE);
	assert_memory_equal(last + HEADER, group, 6);
	assert_int_equal(driver_take(&drivers[1]), 1);
	assert_int_equal(driver_take(&drivers[2]), 1);
	/* 3 + 1 + 1 + 1 + 1; VM 2 has 2 + 1 + 2 + 1 of them. */
	assert_counts(0, 7, 0, 2, 0);
	assert_counts(2, 4, 0, 6, 0);
	assert_counts(3, 0, 0, 0, 0);
	/* The other network. */
	driver_start(&drivers[0], 0, 1, 0, QUEUE);
	drivers[3].wrong = drivers[1].wrong = drivers[2].wrong = 0;
	send(0, broadcast, 60);
	assert_got(8, 1);
	send(3, macs[0], 60);
	assert_got(1, 1);
	send(3, macs[1], 60);
	assert_got(0, 0);
}

/* Offers a frame whose source is this one. */
static void send_as(uint32_t from, const uint8_t source[6], const uint8_t to[6])
{
	struct driver *d = &drivers[from];
	uint32_t slot = d->given[PORT_SENDS] % QUEUE;

	assert_true(driver_frame(d, to, 1, 60));
	memcpy(driver_buffer(d, PORT_SENDS, slot) + HEADER + 6, source, 6);
	driver_notify(d);
}

static void nobody_poses_as_another(void **state)
{
	static const uint8_t group[6] = {3, 0, 0, 0, 0, 99};

	(void)state;
	start(0, QUEUE);
	send_as(0, macs[1], macs[2]);
	send_as(0, unknown, macs[2]);
	send_as(0, broadcast, macs[2]);
	send_as(1, macs[2], macs[0]);
	send_as(2, macs[0], macs[1]);
	send_as(2, macs[1], macs[0]);
	send_as(2, group, macs[0]);
	assert_got(0, 0);
	assert_counts(0, 0, 3, 0, 0);
	assert_counts(1, 0, 1, 0, 0);
	assert_counts(2, 0, 3, 0, 0);
	/* The uplink is a bridge: others are behind it. */
	send_as(2, unknown, macs[0]);
	send_as(2, macs[3], macs[1]);
	assert_counts(2, 2, 3, 0, 0);
	assert_counts(0, 0, 3, 1, 0);
	assert_counts(1, 0, 1, 1, 0);
}

static void sizes(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	start(0, QUEUE);
	for (uint32_t size = LEAST; size <= MOST; size++, bytes += size - 1) {
		send(0, macs[1], size);
		assert_got(2, 1);
	}
	assert_counts(0, MOST - LEAST + 1, 0, 0, 0);
	assert_int_equal(driver_counts(&drivers[0]).sent_bytes, bytes);
	assert_int_equal(driver_counts(&drivers[1]).received_bytes, bytes);
	send(0, macs[1], LEAST - 1);
	send(0, macs[1], MOST + 1);
	assert_got(0, 0);
	assert_counts(0, MOST - LEAST + 1, 2, 0, 0);
	assert_status(0, 0xf);
}

/* --- queues -------------------------------------------------------------------------------- */

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
				struct driver *d = &drivers[0];

				start(leads ? INDIRECT : 0, 0);
				assert_true(driver_frame(d, macs[1], 5, 300));
				cut(d, PORT_SENDS, leads, driver_buffer(d, PORT_SENDS, 0),
				    HEADER + 300, parts, step, 0);
				if (leads)
					lead(d, PORT_SENDS, 0, 1, parts);
				d = &drivers[1];
				cut(d, PORT_RECEIVES, leads, driver_buffer(d, PORT_RECEIVES, 0),
				    HEADER + MOST, parts % 3 + 1, 31 - step, WRITES);
				if (leads)
					lead(d, PORT_RECEIVES, 0, 1, parts % 3 + 1);
				driver_offer(d, PORT_RECEIVES, 0);
				driver_notify(&drivers[0]);
				assert_got(parts <= 6 ? 2 : 0, 1);
				assert_status(0, parts <= 6 ? 0xf : BROKEN);
				assert_status(1, 0xf);
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
	struct driver *d = &drivers[queue == PORT_SENDS ? 0 : 1];
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

			start(INDIRECT, 1);
			assert_true(driver_frame(&drivers[0], macs[1], 5, 300));
			memset(driver_buffer(&drivers[1], PORT_RECEIVES, 0), 0, ROOM);
			malformed(queue, what);
			driver_notify(&drivers[0]);
			assert_got(0, 0);
			assert_status(broken, BROKEN);
			assert_status(1 - broken, 0xf);
			assert_true(levels[broken]);
			assert_int_equal(in(&drivers[broken], ISR, 1) & 2, 2);
			assert_counts(0, queue == PORT_RECEIVES, 0, 0, 0);
			assert_counts(1, 0, 0, 0, queue == PORT_RECEIVES);
			/* It stays so until the reset, and works then. */
			driver_notify(&drivers[0]);
			driver_start(&drivers[broken], broken, 0, 0, 2);
			send(0, macs[1], 300);
			assert_got(2, 1);
		}
	}
}

/* Areas that are misaligned, or outside its memory. */
static void malformed_areas(void **state)
{
	(void)state;
	for (uint32_t queue = 0; queue < PORT_QUEUES; queue++) {
		for (uint32_t area = 0; area < 6; area++) {
			const struct driver *d = &drivers[1];

			start(0, 1);
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
			assert_status(1, BROKEN);
			send(0, macs[1], 60);
			assert_counts(1, 0, 0, queue == PORT_SENDS, queue == PORT_RECEIVES);
			driver_notify(d);
			assert_counts(1, 0, 0, queue == PORT_SENDS, queue == PORT_RECEIVES);
		}
	}
}

/* Indexes wrap at the size, and at 2^16. */
static void indexes_wrap(void **state)
{
	(void)state;
	for (uint32_t events = 0; events < 2; events++) {
		start(events ? EVENT_IDX : 0, QUEUE);
		for (uint32_t n = 0; n < 0x10010; n++) {
			send(n & 1, macs[1 - (n & 1)], 60 + n % 7);
			assert_int_equal(driver_take(&drivers[1 - (n & 1)]), 1);
		}
		assert_int_equal(drivers[0].wrong + drivers[1].wrong, 0);
		assert_counts(0, 0x8008, 0, 0x8008, 0);
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
	const struct driver *to = &drivers[1];

	(void)state;
	start(EVENT_IDX, QUEUE);
	*last_word(to, PORT_RECEIVES, VIRTIO_AVAILABLE) = 2;
	*last_word(&drivers[0], PORT_SENDS, VIRTIO_AVAILABLE) = 99;
	for (uint32_t n = 0; n < 5; n++) {
		send(0, macs[1], 60);
		assert_int_equal(raised[1], n >= 2);
		assert_int_equal(*last_word(&drivers[0], PORT_SENDS, VIRTIO_USED), n + 1);
		if (levels[1])
			assert_int_equal(in(to, ISR, 1), 1);
		assert_false(levels[1]);
	}
	assert_int_equal(raised[0], 0);
	*last_word(&drivers[0], PORT_SENDS, VIRTIO_AVAILABLE) = 5;
	send(0, macs[1], 60);
	assert_int_equal(raised[0], 1);
	/* Without event indexes: unless the driver does not want any. */
	start(0, QUEUE);
	set_byte(&drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 0, 1);
	send(0, macs[1], 60);
	assert_int_equal(raised[1], 0);
	assert_int_equal(raised[0], 1);
	set_byte(&drivers[1], PORT_RECEIVES, VIRTIO_AVAILABLE, 0, 0);
	send(0, macs[1], 60);
	assert_int_equal(raised[1], 1);
	if (driver_is_in_slot(&drivers[1]))
		return;
	set_space(&drivers[1], PCI_COMMAND, MASTERS | NO_INTX);
	assert_false(levels[1]);
	send(0, macs[1], 60);
	assert_false(levels[1]);
	set_space(&drivers[1], PCI_COMMAND, MASTERS);
	assert_true(levels[1]);
}

static void without_buffers(void **state)
{
	(void)state;
	start(0, 2);
	for (uint32_t n = 0; n < 5; n++)
		send(0, broadcast, 600);
	assert_got(6, 2);
	assert_counts(0, 5, 0, 0, 0);
	assert_counts(1, 0, 0, 2, 3);
	assert_counts(2, 0, 0, 2, 3);
	/* One that is too small waits for a smaller frame. */
	start(0, 0);
	driver_describe(&drivers[1], PORT_RECEIVES, 0,
	                driver_address(&drivers[1], driver_buffer(&drivers[1], PORT_RECEIVES, 0)),
	                HEADER + 100, WRITES, 0);
	driver_offer(&drivers[1], PORT_RECEIVES, 0);
	send(0, macs[1], 101);
	assert_got(0, 0);
	send(0, macs[1], 100);
	assert_got(2, 1);
	assert_counts(1, 0, 0, 1, 1);
	/* Without a driver, or if it may not master the bus; it goes on where it was. */
	start(0, 3);
	send(0, macs[2], 60);
	send(2, macs[0], 60);
	assert_got(5, 1);
	out(&drivers[1], STATUS, 0, 1);
	if (driver_is_in_slot(&drivers[2]))
		return;
	set_space(&drivers[2], PCI_COMMAND, 2);
	send(0, broadcast, 60);
	assert_got(0, 0);
	assert_counts(1, 0, 0, 0, 1);
	set_space(&drivers[2], PCI_COMMAND, MASTERS);
	send(0, broadcast, 60);
	send(2, macs[0], 60);
	assert_got(5, 1);
	assert_counts(2, 2, 0, 2, 1);
}

/* An interrupt for each change; what goes from and to the port meanwhile is lost. */
static void a_link_that_is_down(void **state)
{
	const struct driver *d = &drivers[1];

	(void)state;
	start(0, QUEUE);
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
	send(0, macs[1], 60);
	send(0, broadcast, 60);
	assert_got(4, 1);
	send(1, macs[0], 60);
	assert_got(0, 0);
	assert_counts(0, 2, 0, 0, 0);
	assert_counts(1, 1, 0, 0, 3);
	port_link(&stations[1], 0, true);
	send(0, macs[1], 60);
	assert_got(2, 1);
	/* Nobody is told whose driver is not ready. */
	out(d, STATUS, 0, 1);
	port_link(&stations[1], 0, false);
	assert_false(levels[1]);
	assert_int_equal(in(d, CONFIG + 6, 2), 0);
}

/* --- stays --------------------------------------------------------------------------------- */

/* Time goes on by so many instructions with each look: the store is done in several stays. Each
 * port gets each frame once, and the sender's interrupts come between two stays. */
static void frames_in_several_stays(void **state)
{
	(void)state;
	for (uint32_t step = 0; step <= 4000; step += 500) {
		uint32_t stays = 0;

		start(0, QUEUE);
		for (uint32_t n = 0; n < QUEUE; n++)
			assert_true(driver_frame(&drivers[0], broadcast, n, 300));
		instret_step = step;
		do {
			driver_vcpu->call.again = false;
			out(&drivers[0], 0x104, 1, 2);
			stays++;
			assert_true(stays < 100);
			/* The rest is sent although the driver offers no more. */
			assert_int_equal(driver_vcpu->call.again,
			                 driver_counts(&drivers[0]).sent < QUEUE);
		} while (driver_vcpu->call.again);
		assert_true(step < 2500 || stays == 2 * QUEUE);
		assert_true(step || stays == 1);
		assert_got(6, QUEUE);
		assert_counts(0, QUEUE, 0, 0, 0);
		assert_counts(1, 0, 0, QUEUE, 0);
		assert_counts(2, 0, 0, QUEUE, 0);
	}
}

/* The window in configuration space notifies, too: in a long call. */
static void by_the_window(void **state)
{
	uint32_t at = PCI_FIRST_CAP + 4 * 20, slices = 0;
	bool more = true;

	(void)state;
	start(0, QUEUE);
	for (uint32_t n = 0; n < QUEUE; n++)
		assert_true(driver_frame(&drivers[0], macs[1], n, 60));
	instret_step = 1000;
	set_space(&drivers[0], at + 8, 0x104);
	set_space(&drivers[0], at + 12, 2);
	driver_vcpu->call.slice = NULL;
	driver_vcpu->vm = &stations[0];
	set_space(&drivers[0], at + 16, 1);
	assert_non_null(driver_vcpu->call.slice);
	for (; more && slices < 100; slices++)
		more = driver_vcpu->call.slice(driver_vcpu);
	assert_true(slices > 1 && slices < 100);
	assert_got(2, QUEUE);
	/* That of buffers to receive does nothing. */
	driver_vcpu->call.slice = NULL;
	set_space(&drivers[0], at + 8, 0x100);
	set_space(&drivers[0], at + 16, 0);
	assert_null(driver_vcpu->call.slice);
}

/* --- lives --------------------------------------------------------------------------------- */

static void nothing_after_the_end(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		start(0, QUEUE);
		send(0, macs[1], 60);
		assert_got(2, 1);
		if (how)
			out(&drivers[1], STATUS, 0, 1);
		else
			ports_reset(&stations[1], false);
		assert_true(!how || !levels[1]);
		memcpy(before, rams[1], BYTES);
		send(0, broadcast, 60);
		driver_notify(&drivers[1]);
		assert_memory_equal(before, rams[1], BYTES);
		assert_counts(1, 0, 0, 1, 1);
		if (!how)
			ports_reset(&stations[1], true);
		assert_counts(1, 0, 0, how, how);
		driver_start(&drivers[1], 1, 0, 0, QUEUE);
		(void)driver_take(&drivers[2]);
		send(0, macs[1], 90);
		assert_got(2, 1);
	}
}

/* A life that ends in the middle of a frame for all leaves nothing for the next one. */
static void a_frame_that_is_not_done(void **state)
{
	(void)state;
	start(0, QUEUE);
	assert_true(driver_frame(&drivers[0], broadcast, 1, 300));
	instret_step = 4000;
	out(&drivers[0], 0x104, 1, 2);
	assert_true(driver_vcpu->call.again);
	assert_got(2, 1);
	ports_reset(&stations[0], false);
	ports_reset(&stations[0], true);
	driver_start(&drivers[0], 0, 0, 0, QUEUE);
	instret_step = 0;
	send(0, broadcast, 60);
	assert_got(6, 1);
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
		struct driver *bad = &drivers[1];

		start(percent(&c, 50) ? INDIRECT : 0, QUEUE);
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
			(void)driver_take(&drivers[0]);
			(void)driver_take(&drivers[2]);
			drivers[0].wrong = drivers[2].wrong = 0;
			send(0, macs[2], 60 + below(&c, 1400));
			assert_int_equal(driver_take(&drivers[2]), 1);
			assert_int_equal(drivers[2].wrong, 0);
		}
		assert_memory_equal(before, rams[3], BYTES);
		assert_int_equal(driver_counts(&drivers[0]).refused, 0);
		assert_status(0, 0xf);
		assert_status(2, 0xf);
	}
}

int main(void)
{
	/* Ports on a bus, all in slots, and some of each. */
	static const uint32_t virt[] = {0, 0xf, 0x5, 0xa};
	static struct vcpu vcpu;
	const struct CMUnitTest functions[] = {
	    cmocka_unit_test(its_configuration),
	    cmocka_unit_test(by_the_window),
	};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_go_to_their_port),
	    cmocka_unit_test(nobody_poses_as_another),
	    cmocka_unit_test(sizes),
	    cmocka_unit_test(buffers_in_parts),
	    cmocka_unit_test(malformed_queues),
	    cmocka_unit_test(malformed_areas),
	    cmocka_unit_test(indexes_wrap),
	    cmocka_unit_test(event_indexes),
	    cmocka_unit_test(without_buffers),
	    cmocka_unit_test(a_link_that_is_down),
	    cmocka_unit_test(frames_in_several_stays),
	    cmocka_unit_test(nothing_after_the_end),
	    cmocka_unit_test(a_frame_that_is_not_done),
	    cmocka_unit_test(beside_a_hostile_driver),
	};

	int failed;

	driver_vcpu = &vcpu;
	failed = cmocka_run_group_tests(functions, NULL, NULL);
	for (uint32_t i = 0; i < ARRAY_SIZE(virt); i++) {
		stations_virt = virt[i];
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
