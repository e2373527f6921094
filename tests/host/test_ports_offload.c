/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of a network with offloads: frames of up to 64 KiB in many buffers and several stays, and
 * headers that receivers get; in front of hostile drivers. */
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
#define BROKEN 0x4fU
#define MORE   1U /* flags of descriptors */
#define WRITES 2U
#define LEADS  4U

/* VIRTIO 1.2, 5.1.3: what a port offers, and what a driver has to take. */
#define OFFERED 0x9983U
#define TAKEN   0x8182U

#define LARGEST 65550U
#define PARTS   19U
#define MANY    48U /* buffers of a receiver for a frame */
#define ENTRIES 64U /* of the queues here */

/* Places in a VM's memory, behind the areas of the queues. */
#define TABLE    0x7000U
#define RECEIVED 0x8000U
#define SENT     0x20000U

#define CSUM     1U
#define TCPV4    1U
#define TCPV6    4U
#define SEGMENTS 1460U

struct header {
	uint8_t flags, segments;
	uint16_t headers, segment_size, csum_start, csum_offset, buffers;
};

static const struct header none, tcp = {CSUM, TCPV4, 66, SEGMENTS, 34, 16, 0};

static struct driver drivers[STATIONS];
static uint32_t sizes[STATIONS]; /* of the buffers to receive */
static bool only_sends;          /* open_port() enables no queue that receives */

/* --- a driver ------------------------------------------------------------------------------ */

static uint8_t *memory(uint32_t i, uint32_t offset)
{
	return &rams[i][offset];
}

static uint16_t *word(uint32_t i, uint32_t queue, uint32_t which, uint32_t n)
{
	return (uint16_t *)(void *)driver_area(&drivers[i], queue, which) + n;
}

static void offer(uint32_t i, uint32_t queue, uint32_t head)
{
	struct driver *d = &drivers[i];

	*word(i, queue, VIRTIO_AVAILABLE, 2 + d->given[queue] % ENTRIES) = (uint16_t)head;
	*word(i, queue, VIRTIO_AVAILABLE, 1) = ++d->given[queue];
}

static uint32_t agree(uint32_t i, uint64_t features)
{
	struct driver *d = &drivers[i];

	*d = (struct driver){.vm = &stations[i], .features = features};
	out(d, STATUS, 0, 1);
	memset(memory(i, 0), 0, TABLE);
	set_space(d, PCI_COMMAND, MASTERS);
	out(d, STATUS, 3, 1);
	for (uint32_t half = 0; half < 2; half++) {
		out(d, 0x08, half, 4);
		out(d, 0x0c, (features | VERSION_1) >> 32 * half, 4);
	}
	out(d, STATUS, 0xb, 1);
	return (uint32_t)in(d, STATUS, 1);
}

/* Sets up VM i's port, with so many buffers of this size. */
static void open_port(uint32_t i, uint64_t features, uint32_t buffers, uint32_t size)
{
	struct driver *d = &drivers[i];

	assert_int_equal(agree(i, features | OFFERED), 0xb);
	for (uint32_t q = 0; q < PORT_QUEUES; q++) {
		out(d, 0x16, q, 2);
		out(d, 0x18, ENTRIES, 2);
		for (uint32_t n = 0; n < 3; n++) {
			out(d, 0x20 + 8 * n, driver_address(d, driver_area(d, q, n)), 4);
			out(d, 0x24 + 8 * n, 0, 4);
		}
		out(d, 0x1c, !only_sends || q == PORT_SENDS, 2);
	}
	sizes[i] = size;
	for (uint32_t n = 0; n < buffers; n++) {
		assert_true(RECEIVED + (n + 1) * size <= SENT);
		driver_describe(d, PORT_RECEIVES, n, RAM + RECEIVED + n * size, size, WRITES, 0);
		offer(i, PORT_RECEIVES, n);
	}
	out(d, STATUS, 0xf, 1);
	assert_int_equal(in(d, STATUS, 1), 0xf);
}

static void start(uint64_t features, uint32_t buffers, uint32_t size)
{
	instret_step = 0;
	logged = 0;
	stations_offload(true);
	stations_make();
	for (uint32_t i = 0; i < 3; i++)
		open_port(i, features, buffers, size);
}

static uint8_t contents(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 31 + i * 7 + (i >> 8));
}

/* Describes what is at an address in so many parts, of which all but the first and the last are
 * short, and offers it. */
static void describe(uint32_t i, uint64_t at, uint32_t bytes, uint32_t parts)
{
	struct driver *d = &drivers[i];
	bool leads = d->features & INDIRECT;

	for (uint32_t n = 0; n < parts; n++) {
		uint32_t size = n + 1 == parts ? bytes : n ? 3 + n : HEADER;

		driver_describe(d, PORT_SENDS, n, at, size, n + 1 < parts ? MORE : 0, n + 1);
		at += size;
		bytes -= size;
	}
	if (leads) {
		memcpy(memory(i, TABLE), driver_area(d, PORT_SENDS, VIRTIO_DESCRIPTORS),
		       16UL * parts);
		driver_describe(d, PORT_SENDS, 0, RAM + TABLE, 16 * parts, LEADS, 0);
	}
	offer(i, PORT_SENDS, 0);
}

/* Offers a frame at this offset; its contents follow from its size. */
static void offer_frame(uint32_t i, const uint8_t to[6], uint32_t size, struct header h,
                        uint32_t parts, uint32_t offset)
{
	uint8_t *at = memory(i, SENT + offset);

	memcpy(at, &h, sizeof(h));
	memcpy(at + HEADER, to, 6);
	memcpy(at + HEADER + 6, macs[i], 6);
	for (uint32_t n = 12; n < size; n++)
		at[HEADER + n] = contents(size, n);
	describe(i, RAM + SENT + offset, HEADER + size, parts);
}

/* The hart makes the guest go on in one stay. Returns whether it has to again. */
static bool notify_once(uint32_t i)
{
	driver_vcpu->call.again = false;
	out(&drivers[i], 0x104, 1, 2);
	return driver_vcpu->call.again;
}

static uint32_t notify(uint32_t i)
{
	uint32_t stays = 1;

	while (notify_once(i)) {
		stays++;
		assert_true(stays < 10000);
	}
	return stays;
}

static void send(uint32_t i, const uint8_t to[6], uint32_t size, struct header h)
{
	offer_frame(i, to, size, h, 1, 0);
	notify(i);
}

static uint16_t used(uint32_t i)
{
	return *word(i, PORT_RECEIVES, VIRTIO_USED, 1);
}

static void next_used(uint32_t i, uint32_t *head, uint32_t *size)
{
	uint16_t at = drivers[i].got[PORT_RECEIVES]++ % ENTRIES;

	assert_int_not_equal((uint16_t)(drivers[i].got[PORT_RECEIVES] - 1), used(i));
	memcpy(head, word(i, PORT_RECEIVES, VIRTIO_USED, 2 + 4 * at), 4);
	memcpy(size, word(i, PORT_RECEIVES, VIRTIO_USED, 4 + 4 * at), 4);
}

/* Takes a frame of VM `from`, and gives its buffers back if `back`. */
static void assert_frame(uint32_t i, uint32_t from, const uint8_t to[6], uint32_t size,
                         struct header expected, bool back)
{
	static uint8_t frame[HEADER + LARGEST];
	uint32_t n = 0, buffers = 0, head, got;
	struct header h;

	do {
		next_used(i, &head, &got);
		assert_in_range(got, 1, sizes[i]);
		assert_true(n + got <= HEADER + size && head < ENTRIES);
		memcpy(&frame[n], memory(i, RECEIVED + head * sizes[i]), got);
		n += got;
		memcpy(&h, frame, sizeof(h));
		if (back)
			offer(i, PORT_RECEIVES, head);
	} while (++buffers < h.buffers);
	assert_int_equal(n, HEADER + size);
	expected.buffers = (uint16_t)((HEADER + size + sizes[i] - 1) / sizes[i]);
	assert_memory_equal(&h, &expected, sizeof(h));
	assert_memory_equal(&frame[HEADER], to, 6);
	assert_memory_equal(&frame[HEADER + 6], macs[from], 6);
	for (n = 12; n < size; n++)
		assert_int_equal(frame[HEADER + n], contents(size, n));
}

static void assert_no_frame(uint32_t i)
{
	assert_int_equal(drivers[i].got[PORT_RECEIVES], used(i));
}

static void assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                          uint64_t lost)
{
	struct port_counts counts = driver_counts(&drivers[i]);

	assert_int_equal(counts.sent, sent);
	assert_int_equal(counts.refused, refused);
	assert_int_equal(counts.received, received);
	assert_int_equal(counts.lost, lost);
}

static void assert_status(uint32_t i, uint32_t status)
{
	assert_int_equal(in(&drivers[i], STATUS, 1), status);
}

/* --- features ------------------------------------------------------------------------------ */

static void features(void **state)
{
	const struct driver *d = &drivers[0];

	(void)state;
	for (uint32_t on = 0; on < 2; on++) {
		stations_offload(on);
		stations_make();
		logged = 0;
		agree(0, 0);
		out(d, 0, 0, 4);
		assert_int_equal(in(d, 4, 4) & 0xffff, on ? OFFERED | 0x28 : 0x28);
		assert_int_equal(logged, on);
		assert_status(0, on ? 3 : 0xb);
		/* Another network has none. */
		drivers[3] = (struct driver){.vm = &stations[3]};
		assert_int_equal(in(&drivers[3], 4, 4) & 0xffff, 0x28);
	}
	for (uint32_t bit = 0; bit < 16; bit++) {
		uint32_t without = OFFERED & ~(1U << bit);

		assert_int_equal(agree(0, without),
		                 without == OFFERED || (without & TAKEN) == TAKEN ? 0xb : 3);
	}
	assert_int_equal(agree(0, TAKEN), 0xb);
	/* It is said once. */
	assert_int_equal(logged, 1);
}

/* --- frames -------------------------------------------------------------------------------- */

static void frames_arrive_whole(void **state)
{
	static const uint32_t lengths[] = {14,   15,    60,          1518,   1519,
	                                   4096, 30000, LARGEST - 1, LARGEST};
	static const uint32_t of_buffers[] = {26, 27, 64, 1367, 1536, 4096};
	uint64_t sent[2] = {0}, bytes[2] = {0};

	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		for (uint32_t k = 0; k < ARRAY_SIZE(of_buffers); k++) {
			uint32_t size = of_buffers[k], n = 0x18000 / size;

			start(way ? INDIRECT : 0, n < ENTRIES ? n : ENTRIES, size);
			sent[0] = bytes[0] = 0;
			for (uint32_t i = 0; i < 8 * ARRAY_SIZE(lengths); i++) {
				uint32_t length = lengths[i / 8], parts = 1 + i % 8 * 18 / 7;
				bool large = length > 100;

				if (HEADER + length > size * MANY || length < 4 * parts * parts / 2)
					continue;
				offer_frame(0, macs[1], length, large ? tcp : none, parts, i % 8);
				assert_false(notify_once(0));
				assert_frame(1, 0, macs[1], length, large ? tcp : none, true);
				sent[0]++;
				bytes[0] += length;
			}
			assert_no_frame(1);
			assert_no_frame(2);
			assert_counts(0, sent[0], 0, 0, 0);
			assert_counts(1, 0, 0, sent[0], 0);
			assert_int_equal(driver_counts(&drivers[0]).sent_bytes, bytes[0]);
			assert_int_equal(driver_counts(&drivers[1]).received_bytes, bytes[0]);
		}
	}
}

static void lengths(void **state)
{
	struct header v6 = tcp;

	(void)state;
	start(0, 16, 4352);
	v6.segments = TCPV6;
	send(0, macs[1], 13, none);
	send(0, macs[1], 1519, none);
	send(0, macs[1], LARGEST + 1, tcp);
	assert_no_frame(1);
	assert_counts(0, 0, 3, 0, 0);
	send(0, macs[1], 1518, none);
	assert_frame(1, 0, macs[1], 1518, none, true);
	send(0, macs[1], LARGEST, v6);
	assert_frame(1, 0, macs[1], LARGEST, v6, true);
	/* 19 parts, and one more. */
	offer_frame(0, macs[1], 9000, tcp, PARTS, 0);
	assert_false(notify_once(0));
	assert_frame(1, 0, macs[1], 9000, tcp, true);
	offer_frame(0, macs[1], 9000, tcp, PARTS + 1, 0);
	assert_false(notify_once(0));
	assert_no_frame(1);
	assert_status(0, BROKEN);
	assert_status(1, 0xf);
}

static void headers(void **state)
{
	static const struct header wrong[] = {
	    {2, 0, 0, 0, 0, 0, 0},             /* DATA_VALID, for receivers only */
	    {4, 0, 0, 0, 0, 0, 0},             /* RSC_INFO */
	    {0x81, 0, 0, 0, 34, 16, 0},        /* no flag */
	    {CSUM, 0, 0, 0, 13, 16, 0},        /* in the Ethernet header */
	    {CSUM, 0, 0, 0, 985, 14, 0},       /* over the end */
	    {CSUM, 0, 0, 0, 34, 65535, 0},     /* the sum is over 16 bits */
	    {CSUM, 0, 0, 0, 65535, 1, 0},      /* */
	    {CSUM, 3, 66, 1460, 34, 16, 0},    /* UDP */
	    {CSUM, 0x81, 66, 1460, 34, 16, 0}, /* ECN */
	    {CSUM, 5, 66, 1460, 34, 16, 0},
	    {0, TCPV4, 66, 1460, 34, 16, 0},    /* segments without a checksum */
	    {CSUM, TCPV4, 66, 0, 34, 16, 0},    /* of no bytes */
	    {CSUM, TCPV4, 13, 1460, 34, 16, 0}, /* no header */
	    {CSUM, TCPV6, 1001, 1460, 34, 16, 0},
	};
	static const struct header right[] = {
	    {0, 0, 0, 0, 0, 0, 77},         {0, 0, 1, 2, 3, 4, 5},
	    {CSUM, 0, 0, 0, 14, 0, 0},      {CSUM, 0, 9999, 1, 984, 14, 0},
	    {CSUM, TCPV4, 14, 1, 14, 0, 0}, {CSUM, TCPV6, 1000, 65535, 34, 16, 65535},
	};

	(void)state;
	start(0, 16, 4352);
	for (uint32_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		send(0, macs[1], 1000, wrong[i]);
		assert_no_frame(1);
		assert_counts(0, 0, i + 1, 0, 0);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(right); i++) {
		send(0, macs[1], 1000, right[i]);
		assert_frame(1, 0, macs[1], 1000, right[i], true);
	}
	/* Sources are looked at as ever. */
	offer_frame(0, macs[1], 1000, tcp, 1, 0);
	memcpy(memory(0, SENT + HEADER + 6), macs[2], 6);
	notify(0);
	assert_no_frame(1);
	assert_counts(0, ARRAY_SIZE(right), ARRAY_SIZE(wrong) + 1, 0, 0);
}

static void too_few_buffers(void **state)
{
	(void)state;
	start(0, 5, 1000);
	/* What is taken for a frame that does not fit is there for the next one. */
	for (uint32_t i = 0; i < 3; i++)
		send(0, macs[1], 5000 - HEADER + 1, tcp);
	assert_no_frame(1);
	assert_counts(1, 0, 0, 0, 3);
	send(0, macs[1], 5000 - HEADER, tcp);
	assert_frame(1, 0, macs[1], 5000 - HEADER, tcp, false);
	send(0, macs[1], 60, none);
	assert_counts(0, 5, 0, 0, 0);
	assert_counts(1, 0, 0, 1, 4);
	/* No frame has more than 48. */
	start(0, ENTRIES, 1000);
	send(0, macs[1], MANY * 1000 - HEADER + 1, tcp);
	assert_no_frame(1);
	send(0, macs[1], MANY * 1000 - HEADER, tcp);
	assert_frame(1, 0, macs[1], MANY * 1000 - HEADER, tcp, true);
	assert_status(1, 0xf);
}

static void malformed_buffers(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 3; how++) {
		struct driver *d = &drivers[1];

		start(0, 0, 4000);
		driver_describe(d, PORT_RECEIVES, 0, RAM + RECEIVED, 4000, WRITES, 0);
		driver_describe(d, PORT_RECEIVES, 1, how == 2 ? RAM + BYTES : RAM + RECEIVED,
		                how ? 4000 : 25, WRITES | (how == 1 ? MORE : 0), 2);
		driver_describe(d, PORT_RECEIVES, 2, RAM + RECEIVED, 4000, WRITES, 0);
		offer(1, PORT_RECEIVES, 0);
		offer(1, PORT_RECEIVES, 1);
		send(0, macs[1], 1000, tcp);
		assert_frame(1, 0, macs[1], 1000, tcp, false);
		send(0, macs[1], 5000, tcp);
		assert_no_frame(1);
		assert_status(1, BROKEN);
		assert_counts(1, 0, 0, 1, 1);
		assert_status(0, 0xf);
	}
}

static void frames_for_several(void **state)
{
	(void)state;
	start(0, 16, 4352);
	for (uint32_t step = 0; step <= 4000; step += 1000) {
		instret_step = step;
		send(0, broadcast, LARGEST, tcp);
		assert_frame(1, 0, broadcast, LARGEST, tcp, true);
		assert_frame(2, 0, broadcast, LARGEST, tcp, true);
		/* To the uplink. */
		send(1, macs[3], 30000, tcp);
		assert_frame(2, 1, macs[3], 30000, tcp, true);
	}
}

static void limits(void **state)
{
	(void)state;
	stations_limit(3, 70000);
	start(0, 16, 4352);
	stations_limit(0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		machine_time += 100000;
		instret_step = 4000;
		send(0, macs[1], LARGEST, tcp);
		instret_step = 0;
		assert_frame(1, 0, macs[1], LARGEST, tcp, true);
		send(0, macs[1], 70001 - LARGEST, tcp);
		assert_no_frame(1);
		send(0, macs[1], 70000 - LARGEST, tcp);
		assert_frame(1, 0, macs[1], 70000 - LARGEST, tcp, true);
		assert_counts(0, 2 * (i + 1), i + 1, 0, 0);
	}
}

/* --- stays --------------------------------------------------------------------------------- */

/* Whatever time has gone by with each look, all is done, and the driver sees it at the end. */
static void frames_in_several_stays(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint32_t step = 0; step <= 5000; step += 100) {
		uint32_t stays = 1;

		start(0, 43, 1536);
		instret_step = step;
		offer_frame(0, macs[1], LARGEST, tcp, PARTS, 3);
		for (; notify_once(0); stays++) {
			assert_no_frame(1);
			assert_counts(0, 0, 0, 0, 0);
			assert_true(stays < 200);
		}
		assert_frame(1, 0, macs[1], LARGEST, tcp, true);
		assert_counts(0, 1, 0, 0, 0);
		last = stays;
	}
	assert_true(last > 60);
}

/* Begins a frame from VM `from` to VM 1: a buffer is taken with each stay. */
static void begin(uint32_t from, uint32_t size, uint32_t stays)
{
	offer_frame(from, macs[1], size, tcp, 1, 0);
	instret_step = 4000;
	for (uint32_t i = 0; i < stays; i++)
		assert_true(notify_once(from));
	instret_step = 0;
}

static void two_senders(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 60; stays++) {
		start(0, ENTRIES, 1500);
		begin(0, 60000, stays);
		/* VM 2, the uplink, sends meanwhile. */
		send(2, macs[1], 20000, tcp);
		assert_frame(1, 2, macs[1], 20000, tcp, true);
		notify(0);
		assert_frame(1, 0, macs[1], 60000, tcp, true);
		assert_counts(1, 0, 0, 2, 0);
	}
}

/* Buffers go back in which there is nothing, if others were taken since. */
static void two_senders_and_too_few(void **state)
{
	uint32_t head, size;

	(void)state;
	start(0, 6, 4000);
	begin(0, 30000, 3);
	send(2, macs[1], 100, none);
	notify(0);
	assert_frame(1, 2, macs[1], 100, none, true);
	for (uint32_t i = 0; i < 5; i++) {
		next_used(1, &head, &size);
		assert_int_equal(size, 0);
		assert_int_equal(head, i < 3 ? i : i + 1);
		offer(1, PORT_RECEIVES, head);
	}
	assert_no_frame(1);
	assert_counts(0, 1, 0, 0, 0);
	assert_counts(1, 0, 0, 1, 1);
	send(0, macs[1], 20000, tcp);
	assert_frame(1, 0, macs[1], 20000, tcp, true);
}

/* What the driver changes while a frame is on its way changes neither its header nor its way. */
static void a_frame_that_changes(void **state)
{
	(void)state;
	/* Before the first byte is copied, and behind the header. */
	for (uint32_t stays = 1; stays < 32; stays += 10) {
		start(0, 16, 4352);
		begin(0, 60000, stays);
		memset(memory(0, SENT), 0xff, HEADER);
		memcpy(memory(0, SENT + HEADER), macs[2], 6);
		memcpy(memory(0, SENT + HEADER + 6), macs[2], 6);
		driver_describe(&drivers[0], PORT_SENDS, 0, RAM, 100, 0, 0);
		notify(0);
		assert_frame(1, 0, macs[1], 60000, tcp, true);
		assert_no_frame(2);
		assert_int_equal(driver_counts(&drivers[0]).sent_bytes, 60000);
	}
}

static void the_receiver_is_reset(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint32_t stays = 1; stays < 60; stays += 3) {
		start(0, 24, 4000);
		begin(0, LARGEST, stays);
		if (stays & 1)
			out(&drivers[1], STATUS, 0, 1);
		else
			ports_reset(&stations[1], false), ports_reset(&stations[1], true);
		memcpy(before, rams[1], BYTES);
		if (stays % 4) { /* it is set up again meanwhile */
			open_port(1, 0, 24, 4000);
			memcpy(before, rams[1], BYTES);
		}
		notify(0);
		assert_memory_equal(before, rams[1], BYTES);
		assert_counts(0, 1, 0, 0, 0);
		assert_counts(1, 0, 0, 0, 1);
		open_port(1, 0, 24, 4000);
		send(0, macs[1], LARGEST, tcp);
		assert_frame(1, 0, macs[1], LARGEST, tcp, true);
	}
}

/* A driver enables its other queue while a frame is on its way: to where it was. */
static void a_queue_that_starts_later(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 4; stays++) {
		start(0, 24, 4000);
		only_sends = true;
		open_port(0, 0, 0, 4000);
		only_sends = false;
		offer_frame(0, broadcast, LARGEST, tcp, 1, 0);
		instret_step = 4000;
		while (!used(1))
			assert_true(notify_once(0));
		for (uint32_t i = 0; i < stays; i++)
			assert_true(notify_once(0));
		instret_step = 0;
		out(&drivers[0], 0x16, PORT_RECEIVES, 2);
		out(&drivers[0], 0x1c, 1, 2);
		notify(0);
		for (uint32_t i = 1; i < 3; i++) {
			assert_frame(i, 0, broadcast, LARGEST, tcp, true);
			assert_no_frame(i);
			assert_counts(i, 0, 0, 1, 0);
		}
	}
}

/* A stop is no reset: what was taken before it is still the frame's. */
static void the_receiver_stops_for_a_moment(void **state)
{
	(void)state;
	start(0, 24, 4000);
	begin(0, LARGEST, 5);
	set_space(&drivers[1], PCI_COMMAND, 0);
	out(&drivers[1], 0x16, 1, 2);
	set_space(&drivers[1], PCI_COMMAND, MASTERS);
	notify(0);
	assert_frame(1, 0, macs[1], LARGEST, tcp, true);
}

/* The buffers are there for others, and the next frame is no part of this one. */
static void the_sender_is_reset(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays < 35; stays++) {
		start(0, 17, 4000);
		begin(0, LARGEST, stays);
		if (stays & 1)
			ports_reset(&stations[0], false), ports_reset(&stations[0], true);
		open_port(0, 0, 17, 4000);
		assert_no_frame(1);
		assert_counts(0, 0, 0, 0, 0);
		send(2, macs[1], LARGEST, tcp);
		assert_frame(1, 2, macs[1], LARGEST, tcp, true);
		send(0, macs[1], 66, none);
		assert_frame(1, 0, macs[1], 66, none, true);
		assert_counts(1, 0, 0, 2, 0);
	}
}

/* The driver waits for one of the buffers that come back so: it is told with the next frame. */
static void a_driver_is_told_later(void **state)
{
	uint32_t head, size;

	(void)state;
	start(EVENT_IDX, 20, 4000);
	*word(1, PORT_RECEIVES, VIRTIO_AVAILABLE, 2 + ENTRIES) = 1;
	begin(0, LARGEST, 4);
	send(2, macs[1], 66, none);
	assert_frame(1, 2, macs[1], 66, none, false);
	assert_int_equal(raised[1], 0);
	open_port(0, EVENT_IDX, 20, 4000);
	assert_int_equal(raised[1], 0);
	for (uint32_t i = 0; i < 4; i++) {
		next_used(1, &head, &size);
		assert_int_equal(size, 0);
	}
	assert_no_frame(1);
	send(2, macs[1], 67, none);
	assert_frame(1, 2, macs[1], 67, none, false);
	assert_int_equal(raised[1], 1);
}

/* Of several buffers that come at once, the driver may have waited for any. */
static void event_indexes(void **state)
{
	(void)state;
	for (uint16_t event = 0; event < 8; event++) {
		start(EVENT_IDX, 16, 4000);
		send(0, macs[1], 66, none);
		assert_frame(1, 0, macs[1], 66, none, false);
		raised[1] = 0;
		levels[1] = false;
		(void)in(&drivers[1], 0x200, 1);
		*word(1, PORT_RECEIVES, VIRTIO_AVAILABLE, 2 + ENTRIES) = event;
		send(0, macs[1], 20000 - HEADER, tcp);
		assert_frame(1, 0, macs[1], 20000 - HEADER, tcp, false);
		assert_int_equal(raised[1], event >= 1 && event <= 5);
	}
}

/* A cable that is pulled when buffers are taken already lets the frame pass. */
static void links(void **state)
{
	(void)state;
	start(0, 20, 4000);
	port_link(&stations[1], 0, false);
	send(0, macs[1], LARGEST, tcp);
	assert_counts(1, 0, 0, 0, 1);
	port_link(&stations[1], 0, true);
	begin(0, LARGEST, 5);
	port_link(&stations[1], 0, false);
	notify(0);
	assert_frame(1, 0, macs[1], LARGEST, tcp, true);
	assert_counts(1, 0, 0, 1, 1);
}

/* --- hostile drivers ----------------------------------------------------------------------- */

static void spoil(struct chance *c, uint32_t i)
{
	uint32_t queue = below(c, PORT_QUEUES), at = RECEIVED + below(c, BYTES - RECEIVED);
	struct header h = {(uint8_t)below(c, 3),
	                   (uint8_t)below(c, 6),
	                   (uint16_t)below(c, 99),
	                   1460,
	                   (uint16_t)below(c, 99),
	                   16,
	                   0};

	if (percent(c, 50)) {
		h = tcp;
		at = SENT;
	}
	if (percent(c, 40)) {
		memcpy(memory(i, SENT), &h, sizeof(h));
		memcpy(memory(i, SENT + HEADER), macs[percent(c, 50) ? 2 : 0], 6);
		memcpy(memory(i, SENT + HEADER + 6), macs[i], 6);
	}
	driver_describe(
	    &drivers[i], queue, below(c, ENTRIES),
	    percent(c, 95) ? RAM + at : RAM + below(c, 2 * BYTES),
	    percent(c, 95) ? 1 + below(c, percent(c, 50) ? 4000 : 65562) : (uint32_t)chance(c),
	    percent(c, 90) ? (queue ? 0 : WRITES) | (percent(c, 30) ? MORE : 0) : below(c, 8),
	    percent(c, 95) ? below(c, ENTRIES) : (uint32_t)chance(c));
}

/* One step of VM 1's driver. */
static void be_hostile(struct chance *c)
{
	instret_step = percent(c, 60) ? below(c, 3000) : 0;
	if (percent(c, 70))
		spoil(c, 1);
	if (percent(c, 60))
		offer(1, below(c, PORT_QUEUES), below(c, ENTRIES + 1));
	if (percent(c, 3))
		out(&drivers[1], below(c, 0x400), chance(c), 1U << below(c, 3));
	for (uint32_t n = below(c, 4); n && notify_once(1); n--)
		;
	if (in(&drivers[1], STATUS, 1) != 0xf && percent(c, 50))
		open_port(1, percent(c, 50) ? INDIRECT : 0, below(c, 20), 1 + below(c, 4000));
	instret_step = 0;
}

/* Takes all that VM 2 has got, which VM 1 may have sent; gives the buffers back. */
static void drop_all(uint32_t i)
{
	uint32_t head, size;

	while (drivers[i].got[PORT_RECEIVES] != used(i)) {
		next_used(i, &head, &size);
		offer(i, PORT_RECEIVES, head);
	}
}

/* What it does changes no memory but its own and buffers for frames, and no frame between others:
 * also while it has a frame on its way to one of them. */
static void beside_a_hostile_driver(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct chance c = {seed};

		start(percent(&c, 50) ? INDIRECT : 0, 60, 1600);
		memcpy(before, rams[3], BYTES);
		for (uint32_t step = 0; step < 200; step++) {
			uint32_t size = 14 + below(&c, percent(&c, 80) ? 1400 : 20000);

			be_hostile(&c);
			drop_all(0);
			drop_all(2);
			instret_step = percent(&c, 50) ? below(&c, 3000) : 0;
			send(0, macs[2], size, size < 100 ? none : tcp);
			instret_step = 0;
			assert_frame(2, 0, macs[2], size, size < 100 ? none : tcp, true);
		}
		assert_memory_equal(before, rams[3], BYTES);
		assert_int_equal(driver_counts(&drivers[0]).refused, 0);
		assert_status(0, 0xf);
		assert_status(2, 0xf);
	}
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(features),
	    cmocka_unit_test(frames_arrive_whole),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(headers),
	    cmocka_unit_test(too_few_buffers),
	    cmocka_unit_test(malformed_buffers),
	    cmocka_unit_test(frames_for_several),
	    cmocka_unit_test(limits),
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
	    cmocka_unit_test(beside_a_hostile_driver),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
