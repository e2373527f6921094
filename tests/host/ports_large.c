/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/ports_large.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"

const struct large_header large_none, large_tcp = {CSUM, TCPV4, 66, SEGMENTS, 34, 16, 0};
struct driver large_drivers[STATIONS];
uint32_t large_sizes[STATIONS];
bool large_only_sends;

uint8_t *large_memory(uint32_t i, uint32_t offset)
{
	return &rams[i][offset];
}

void large_offer(uint32_t i, uint32_t queue, uint32_t head)
{
	struct driver *d = &large_drivers[i];

	*driver_word(&large_drivers[i], queue, VIRTIO_AVAILABLE, 2 + d->given[queue] % ENTRIES) =
	    (uint16_t)head;
	*driver_word(&large_drivers[i], queue, VIRTIO_AVAILABLE, 1) = ++d->given[queue];
}

uint32_t large_agree(uint32_t i, uint64_t features)
{
	struct driver *d = &large_drivers[i];

	*d = (struct driver){.vm = &stations[i], .features = features};
	out(d, STATUS, 0, 1);
	memset(large_memory(i, 0), 0, TABLE);
	set_space(d, PCI_COMMAND, MASTERS);
	out(d, STATUS, 3, 1);
	for (uint32_t half = 0; half < 2; half++) {
		out(d, 0x08, half, 4);
		out(d, 0x0c, (features | VERSION_1) >> 32 * half, 4);
	}
	out(d, STATUS, 0xb, 1);
	return (uint32_t)in(d, STATUS, 1);
}

void large_open_port(uint32_t i, uint64_t features, uint32_t buffers, uint32_t size)
{
	struct driver *d = &large_drivers[i];

	assert_int_equal(large_agree(i, features | OFFERED), 0xb);
	for (uint32_t q = 0; q < PORT_QUEUES; q++) {
		out(d, 0x16, q, 2);
		out(d, 0x18, ENTRIES, 2);
		for (uint32_t n = 0; n < 3; n++) {
			out(d, 0x20 + 8 * n, driver_address(d, driver_area(d, q, n)), 4);
			out(d, 0x24 + 8 * n, 0, 4);
		}
		out(d, 0x1c, !large_only_sends || q == PORT_SENDS, 2);
	}
	large_sizes[i] = size;
	for (uint32_t n = 0; n < buffers; n++) {
		assert_true(RECEIVED + (n + 1) * size <= SENT);
		driver_describe(d, PORT_RECEIVES, n, RAM + RECEIVED + n * size, size, WRITES, 0);
		large_offer(i, PORT_RECEIVES, n);
	}
	out(d, STATUS, 0xf, 1);
	assert_int_equal(in(d, STATUS, 1), 0xf);
}

void large_start(uint64_t features, uint32_t buffers, uint32_t size)
{
	instret_step = 0;
	logged = 0;
	stations_offload(true);
	stations_make();
	for (uint32_t i = 0; i < 3; i++)
		large_open_port(i, features, buffers, size);
}

/* Describes what is at an address in so many parts, of which all but the first and the last are
 * short, and offers it. */
static void describe(uint32_t i, uint64_t at, uint32_t bytes, uint32_t parts)
{
	struct driver *d = &large_drivers[i];
	bool leads = d->features & INDIRECT;

	for (uint32_t n = 0; n < parts; n++) {
		uint32_t size = n + 1 == parts ? bytes : n ? 3 + n : HEADER;

		driver_describe(d, PORT_SENDS, n, at, size, n + 1 < parts ? MORE : 0, n + 1);
		at += size;
		bytes -= size;
	}
	if (leads) {
		memcpy(large_memory(i, TABLE), driver_area(d, PORT_SENDS, VIRTIO_DESCRIPTORS),
		       16UL * parts);
		driver_describe(d, PORT_SENDS, 0, RAM + TABLE, 16 * parts, LEADS, 0);
	}
	large_offer(i, PORT_SENDS, 0);
}

void large_offer_frame(uint32_t i, const uint8_t to[6], uint32_t size, struct large_header h,
                       uint32_t parts, uint32_t offset)
{
	uint8_t *at = large_memory(i, SENT + offset);

	memcpy(at, &h, sizeof(h));
	memcpy(at + HEADER, to, 6);
	memcpy(at + HEADER + 6, macs[i], 6);
	for (uint32_t n = 12; n < size; n++)
		at[HEADER + n] = driver_contents(size, n);
	describe(i, RAM + SENT + offset, HEADER + size, parts);
}

bool large_notify_once(uint32_t i)
{
	driver_vcpu->call.again = false;
	out(&large_drivers[i], 0x104, 1, 2);
	return driver_vcpu->call.again;
}

uint32_t large_notify(uint32_t i)
{
	uint32_t stays = 1;

	while (large_notify_once(i)) {
		stays++;
		assert_true(stays < 10000);
	}
	return stays;
}

void large_send(uint32_t i, const uint8_t to[6], uint32_t size, struct large_header h)
{
	large_offer_frame(i, to, size, h, 1, 0);
	large_notify(i);
}

uint16_t large_used(uint32_t i)
{
	return *driver_word(&large_drivers[i], PORT_RECEIVES, VIRTIO_USED, 1);
}

void large_next_used(uint32_t i, uint32_t *head, uint32_t *size)
{
	uint16_t at = large_drivers[i].got[PORT_RECEIVES]++ % ENTRIES;

	assert_int_not_equal((uint16_t)(large_drivers[i].got[PORT_RECEIVES] - 1), large_used(i));
	memcpy(head, driver_word(&large_drivers[i], PORT_RECEIVES, VIRTIO_USED, 2 + 4 * at), 4);
	memcpy(size, driver_word(&large_drivers[i], PORT_RECEIVES, VIRTIO_USED, 4 + 4 * at), 4);
}

void large_assert_frame(uint32_t i, uint32_t from, const uint8_t to[6], uint32_t size,
                        struct large_header expected, bool back)
{
	static uint8_t frame[HEADER + LARGEST];
	uint32_t n = 0, buffers = 0, head, got;
	struct large_header h;

	do {
		large_next_used(i, &head, &got);
		assert_in_range(got, 1, large_sizes[i]);
		assert_true(n + got <= HEADER + size && head < ENTRIES);
		memcpy(&frame[n], large_memory(i, RECEIVED + head * large_sizes[i]), got);
		n += got;
		memcpy(&h, frame, sizeof(h));
		if (back)
			large_offer(i, PORT_RECEIVES, head);
	} while (++buffers < h.buffers);
	assert_int_equal(n, HEADER + size);
	expected.buffers = (uint16_t)((HEADER + size + large_sizes[i] - 1) / large_sizes[i]);
	assert_memory_equal(&h, &expected, sizeof(h));
	assert_memory_equal(&frame[HEADER], to, 6);
	assert_memory_equal(&frame[HEADER + 6], macs[from], 6);
	for (n = 12; n < size; n++)
		assert_int_equal(frame[HEADER + n], driver_contents(size, n));
}

void large_assert_no_frame(uint32_t i)
{
	assert_int_equal(large_drivers[i].got[PORT_RECEIVES], large_used(i));
}

void large_assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                         uint64_t lost)
{
	struct port_counts counts = driver_counts(&large_drivers[i]);

	assert_int_equal(counts.sent, sent);
	assert_int_equal(counts.refused, refused);
	assert_int_equal(counts.received, received);
	assert_int_equal(counts.lost, lost);
}

void large_assert_status(uint32_t i, uint32_t status)
{
	assert_int_equal(in(&large_drivers[i], STATUS, 1), status);
}
