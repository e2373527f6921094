/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_ports.h"

#include <string.h>

#define PORT   0x10000U /* bytes of a port in its VM's memory, and of a queue there */
#define RING   0x8000U
#define TABLES 0x3000U /* of a queue: areas at 0, 0x1000, 0x2000; indirect tables; buffers */
#define SPACE  0x4000U
#define SLOT   0x400U

/* The input. */
static const uint8_t *bytes;
static size_t left;

void fuzz_begin(const uint8_t *data, size_t size)
{
	bytes = data;
	left = size;
}

size_t fuzz_left(void)
{
	return left;
}

uint32_t fuzz_byte(void)
{
	return left ? left--, *bytes++ : 0;
}

uint32_t fuzz_number(void)
{
	uint32_t low = fuzz_byte();

	return low | fuzz_byte() << 8;
}

uint64_t fuzz_ring_at(const struct model_port *p, uint32_t queue)
{
	return p->d.n * PORT + queue * RING;
}

static void poke(const struct model_port *p, uint64_t at, const void *from, size_t size)
{
	memcpy(&rams[p->station][at], from, size);
	memcpy(&model_rams[p->station][at], from, size);
}

void fuzz_poke16(const struct model_port *p, uint64_t at, uint32_t value)
{
	uint16_t word = (uint16_t)value;

	poke(p, at, &word, 2);
}

void fuzz_write_common(struct model_port *p, uint32_t offset, uint32_t value, uint32_t width)
{
	if (offset == 0x0c)
		value &= (uint32_t)(in(&p->d, 0x08, 4) ? MODEL_FEATURES >> 32
		                    : p->offload       ? MODEL_FEATURES | MODEL_OFFLOADS
		                                       : MODEL_FEATURES);
	out(&p->d, offset, value, width);
	model_changed(p);
}

void fuzz_set_up(struct model_port *p)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 16, 16, 32, 1024};
	uint32_t how = fuzz_byte(), overlap = how >> 5 == 7 ? fuzz_byte() : 0,
	         size = sizes[how & 7];

	fuzz_write_common(p, STATUS, 0, 1);
	set_space(&p->d, PCI_COMMAND, MASTERS);
	model_changed(p);
	for (uint32_t i = 0; i < 2; i++) {
		fuzz_write_common(p, 0x08, i, 4);
		fuzz_write_common(p, 0x0c,
		                  i ? 1
		                    : (how & 8 ? INDIRECT : 0) | (how & 16 ? EVENT_IDX : 0) |
		                          (p->offload ? MODEL_OFFLOADS : 0),
		                  4);
	}
	fuzz_write_common(p, STATUS, 0xb, 1);
	for (uint32_t i = 0; i < PORT_QUEUES; i++) {
		fuzz_write_common(p, 0x16, i, 2);
		fuzz_write_common(p, 0x18, size, 2);
		for (uint32_t a = 0; a < 3; a++)
			fuzz_write_common(p, 0x20 + 8 * a,
			                  (uint32_t)(RAM + fuzz_ring_at(p, i) + 0x1000 * a -
			                             (a ? 16 * (overlap >> 2 * a) : 0)),
			                  4);
		/* Or the queue that receives starts later: enable_later(). */
		if (!p->offload || i == PORT_SENDS || (how & 0x60) != 0x20)
			fuzz_write_common(p, 0x1c, 1, 2);
		memset(&rams[p->station][fuzz_ring_at(p, i)], 0, TABLES);
		memset(&model_rams[p->station][fuzz_ring_at(p, i)], 0, TABLES);
	}
	fuzz_write_common(p, STATUS, 0xf, 1);
}

/* An address of this port's memory, of its VM's, or of none. */
static uint64_t address(const struct model_port *p, uint32_t queue)
{
	uint32_t kind = fuzz_byte();

	switch (kind >> 5) {
	case 0:
		return RAM + fuzz_ring_at(p, queue) + fuzz_number();
	case 1:
		return RAM + BYTES - (kind & 31);
	case 2:
		return (uint64_t)fuzz_number() << (kind & 31) * 2;
	case 3:
		return RAM + fuzz_ring_at(p, queue) + TABLES + (kind & 31);
	default:
		return RAM + fuzz_ring_at(p, queue) + SPACE + (kind & 15) * SLOT;
	}
}

void fuzz_describe(const struct model_port *p)
{
	uint32_t where = fuzz_byte(), queue = where & 1, n = where >> 2 & 31, size = fuzz_number();
	uint64_t at = fuzz_ring_at(p, queue) + (where & 2 ? TABLES : 0) + 16 * n,
	         to = address(p, queue);
	uint32_t how = fuzz_byte();

	size = how & 0x80 ? size << 16 : size % 1600;
	/* To the end of its memory, or by a byte further. */
	if (how & 0x20)
		to = RAM + BYTES - size + (how >> 4 & 1);
	poke(p, at, &to, 8);
	poke(p, at + 8, &size, 4);
	fuzz_poke16(p, at + 12, (how & 7) ^ (queue ? 0 : 2));
	fuzz_poke16(p, at + 14, how & 0x40 ? fuzz_number() : how >> 3 & 7);
}

void fuzz_offer(const struct model_port *p)
{
	uint32_t how = fuzz_byte(), queue = how & 1, head = how >> 3;
	uint32_t first = how & 2 ? fuzz_number() : 0;
	uint64_t avail = fuzz_ring_at(p, queue) + 0x1000;
	uint16_t idx;

	memcpy(&idx, &rams[p->station][avail + 2], 2);
	if (how & 2)
		fuzz_poke16(p, avail + 4 + 2 * (first % 1030), fuzz_number());
	else
		fuzz_poke16(p, avail + 4 + 2 * (idx & 15), head);
	fuzz_poke16(p, avail + 2, how & 4 ? fuzz_number() : idx + 1U);
}

static void put_descriptor(const struct model_port *p, uint64_t table, uint32_t n, uint64_t to,
                           uint32_t size, uint32_t flags, uint32_t next)
{
	poke(p, table + 16 * n, &to, 8);
	poke(p, table + 16 * n + 8, &size, 4);
	fuzz_poke16(p, table + 16 * n + 12, flags);
	fuzz_poke16(p, table + 16 * n + 14, next);
}

/* Describes a buffer, in as many parts as the bytes say, perhaps by a table. */
static void cut(const struct model_port *p, uint32_t queue, uint32_t head, uint64_t to,
                uint32_t size)
{
	uint32_t how = fuzz_byte(), parts = (how & 7) + 1, writes = queue == PORT_SENDS ? 0 : 2;
	uint64_t all = fuzz_ring_at(p, queue), table = how & 8 ? all + TABLES + 160 * head : all;
	uint32_t first = how & 8 ? 0 : head;

	if (how & 8)
		put_descriptor(p, all, head, RAM + table, how & 16 ? 16 * parts : 160,
		               4 | (how >> 5 & 3), 0);
	/* A table in a table. */
	if ((how & 0x88) == 0x88) {
		put_descriptor(p, table, 0, RAM + table + 16, 16, 4, 0);
		put_descriptor(p, table, 1, to, size, writes, 0);
		return;
	}
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t len = i + 1 < parts ? fuzz_byte() : size, n = (first + i) & 15;

		if (len > size)
			len = size;
		put_descriptor(p, table, n, to, len, writes | (i + 1 < parts ? 1 : 0),
		               (n + 1) & 15);
		to += len;
		size -= len;
	}
}

/* With offloads: up to 64 KiB, and a header for them, or 4 KiB for what comes. Returns how many
 * bytes. */
static uint32_t offload(const struct model_port *p, uint32_t queue, uint64_t at, uint32_t size)
{
	uint8_t header[HEADER] = {1, 1, 66, 0, 180, 5, 34, 0, 16, 0, 0, 0};
	uint32_t how = fuzz_byte(), which;

	if (queue == PORT_RECEIVES)
		return how & 1 ? size : size * (1 + (how >> 1 & 3));
	if (how & 1)
		size *= 1 + (how >> 1 & 63);
	if (size > HEADER + PORT_LARGE_MAX)
		size = HEADER + PORT_LARGE_MAX + (how >> 7);
	if (how & 0x80) {
		which = fuzz_byte();
		header[which % HEADER] ^= fuzz_byte();
	}
	if (!(how & 1))
		memset(header, 0, 2);
	poke(p, at, header, HEADER);
	return size;
}

void fuzz_frame(const struct model_port *p, uint32_t queue, bool in_parts)
{
	uint32_t how = fuzz_byte(), size = queue == PORT_SENDS ? 20 + 6 * fuzz_byte() : SLOT;
	uint64_t avail = fuzz_ring_at(p, queue) + 0x1000, at;
	uint8_t macs_of[12] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint16_t idx;

	memcpy(&idx, &rams[p->station][avail + 2], 2);
	at = fuzz_ring_at(p, queue) + SPACE + (idx & 15) * SLOT;
	if (p->offload)
		size = offload(p, queue, at, size);
	memcpy(&macs_of[6], macs[how & 0x80 ? how >> 3 & 3 : p->station], 6);
	if (how & 3)
		memcpy(macs_of, macs[how & 3], 6);
	macs_of[5] ^= how & 0x40 ? fuzz_byte() : 0;
	if (queue == PORT_SENDS) {
		poke(p, at + HEADER, macs_of, 12);
		fuzz_poke16(p, at + HEADER + 12, idx);
		fuzz_poke16(p, at + size - 2, idx ^ size);
	} else if (how & 4) {
		size = 20 + 6 * fuzz_byte() - (how >> 3 & 1);
	}
	if (in_parts)
		cut(p, queue, idx & 15, RAM + at, size);
	else
		put_descriptor(p, fuzz_ring_at(p, queue), idx & 15, RAM + at, size,
		               queue == PORT_SENDS ? 0 : 2, 0);
	fuzz_poke16(p, avail + 4 + 2 * (idx & 15), idx & 15);
	fuzz_poke16(p, avail + 2, idx + 1U);
}
