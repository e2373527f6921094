/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes are what the drivers of all ports of two networks do, hostile or not: registers,
 * configuration space, descriptors, rings, frames, notifications, and lives and links. Each
 * notification changes what a model says, byte for byte in the memory of all VMs, and nothing else;
 * counts, interrupts and status are the model's; in however many stays.
 */
#include <string.h>

#include "core/vcpu/vcpu.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/ports_model.h"

#define STATUS 0x14U
#define ISR    0x200U
#define NOTIFY 0x104U
#define PORT   0x10000U /* bytes of a port in its VM's memory, and of a queue there */
#define RING   0x8000U
#define TABLES 0x3000U /* of a queue: areas at 0, 0x1000, 0x2000; indirect tables; buffers */
#define SPACE  0x4000U
#define SLOT   0x400U

/* The input. */
static const uint8_t *bytes;
static size_t left;

static uint32_t byte(void)
{
	return left ? left--, *bytes++ : 0;
}

static uint32_t number(void)
{
	uint32_t low = byte();

	return low | byte() << 8;
}

/* --- what drivers do ----------------------------------------------------------------------------
 */

static uint64_t ring_at(const struct model_port *p, uint32_t queue)
{
	return p->d.n * PORT + queue * RING;
}

static void poke(const struct model_port *p, uint64_t at, const void *from, size_t size)
{
	memcpy(&rams[p->station][at], from, size);
	memcpy(&model_rams[p->station][at], from, size);
}

static void poke16(const struct model_port *p, uint64_t at, uint32_t value)
{
	uint16_t word = (uint16_t)value;

	poke(p, at, &word, 2);
}

static void write_common(struct model_port *p, uint32_t offset, uint32_t value, uint32_t width)
{
	if (offset == 0x0c)
		value &= (uint32_t)(in(&p->d, 0x08, 4) ? MODEL_FEATURES >> 32 : MODEL_FEATURES);
	out(&p->d, offset, value, width);
	model_changed(p);
}

/* As a driver does it, from the reset to DRIVER_OK; the areas may overlap. */
static void set_up(struct model_port *p)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 16, 16, 32, 1024};
	uint32_t how = byte(), overlap = how >> 5 == 7 ? byte() : 0, size = sizes[how & 7];

	write_common(p, STATUS, 0, 1);
	set_space(&p->d, PCI_COMMAND, MASTERS);
	model_changed(p);
	for (uint32_t i = 0; i < 2; i++) {
		write_common(p, 0x08, i, 4);
		write_common(p, 0x0c, i ? 1 : (how & 8 ? INDIRECT : 0) | (how & 16 ? EVENT_IDX : 0),
		             4);
	}
	write_common(p, STATUS, 0xb, 1);
	for (uint32_t i = 0; i < PORT_QUEUES; i++) {
		write_common(p, 0x16, i, 2);
		write_common(p, 0x18, size, 2);
		for (uint32_t a = 0; a < 3; a++)
			write_common(p, 0x20 + 8 * a,
			             (uint32_t)(RAM + ring_at(p, i) + 0x1000 * a -
			                        (a ? 16 * (overlap >> 2 * a) : 0)),
			             4);
		write_common(p, 0x1c, 1, 2);
		memset(&rams[p->station][ring_at(p, i)], 0, TABLES);
		memset(&model_rams[p->station][ring_at(p, i)], 0, TABLES);
	}
	write_common(p, STATUS, 0xf, 1);
}

/* An address of this port's memory, of its VM's, or of none. */
static uint64_t address(const struct model_port *p, uint32_t queue)
{
	uint32_t kind = byte();

	switch (kind >> 5) {
	case 0:
		return RAM + ring_at(p, queue) + number();
	case 1:
		return RAM + BYTES - (kind & 31);
	case 2:
		return (uint64_t)number() << (kind & 31) * 2;
	case 3:
		return RAM + ring_at(p, queue) + TABLES + (kind & 31);
	default:
		return RAM + ring_at(p, queue) + SPACE + (kind & 15) * SLOT;
	}
}

static void describe(const struct model_port *p)
{
	uint32_t where = byte(), queue = where & 1, n = where >> 2 & 31, size = number();
	uint64_t at = ring_at(p, queue) + (where & 2 ? TABLES : 0) + 16 * n, to = address(p, queue);
	uint32_t how = byte();

	size = how & 0x80 ? size << 16 : size % 1600;
	/* To the end of its memory, or by a byte further. */
	if (how & 0x20)
		to = RAM + BYTES - size + (how >> 4 & 1);
	poke(p, at, &to, 8);
	poke(p, at + 8, &size, 4);
	poke16(p, at + 12, (how & 7) ^ (queue ? 0 : 2));
	poke16(p, at + 14, how & 0x40 ? number() : how >> 3 & 7);
}

static void offer(const struct model_port *p)
{
	uint32_t how = byte(), queue = how & 1, head = how >> 3;
	uint64_t avail = ring_at(p, queue) + 0x1000;
	uint16_t idx;

	memcpy(&idx, &rams[p->station][avail + 2], 2);
	if (how & 2)
		poke16(p, avail + 4 + 2 * (number() % 1030), number());
	else
		poke16(p, avail + 4 + 2 * (idx & 15), head);
	poke16(p, avail + 2, how & 4 ? number() : idx + 1U);
}

static void put_descriptor(const struct model_port *p, uint64_t table, uint32_t n, uint64_t to,
                           uint32_t size, uint32_t flags, uint32_t next)
{
	poke(p, table + 16 * n, &to, 8);
	poke(p, table + 16 * n + 8, &size, 4);
	poke16(p, table + 16 * n + 12, flags);
	poke16(p, table + 16 * n + 14, next);
}

/* Describes a buffer, in as many parts as the bytes say, perhaps by a table. */
static void cut(const struct model_port *p, uint32_t queue, uint32_t head, uint64_t to,
                uint32_t size)
{
	uint32_t how = byte(), parts = (how & 7) + 1, writes = queue == PORT_SENDS ? 0 : 2;
	uint64_t all = ring_at(p, queue), table = how & 8 ? all + TABLES + 160 * head : all;
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
		uint32_t len = i + 1 < parts ? byte() : size, n = (first + i) & 15;

		if (len > size)
			len = size;
		put_descriptor(p, table, n, to, len, writes | (i + 1 < parts ? 1 : 0),
		               (n + 1) & 15);
		to += len;
		size -= len;
	}
}

/* A good frame in the next slot of a queue of 16: to whom, from whom and how long the bytes say. */
static void frame(const struct model_port *p, uint32_t queue, bool in_parts)
{
	uint32_t how = byte(), size = queue == PORT_SENDS ? 20 + 6 * byte() : SLOT;
	uint64_t avail = ring_at(p, queue) + 0x1000, at;
	uint8_t macs_of[12] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint16_t idx;

	memcpy(&idx, &rams[p->station][avail + 2], 2);
	at = ring_at(p, queue) + SPACE + (idx & 15) * SLOT;
	memcpy(&macs_of[6], macs[how & 0x80 ? how >> 3 & 3 : p->station], 6);
	if (how & 3)
		memcpy(macs_of, macs[how & 3], 6);
	macs_of[5] ^= how & 0x40 ? byte() : 0;
	if (queue == PORT_SENDS) {
		poke(p, at + HEADER, macs_of, 12);
		poke16(p, at + HEADER + 12, idx);
		poke16(p, at + size - 2, idx ^ size);
	} else if (how & 4) {
		size = 20 + 6 * byte() - (how >> 3 & 1);
	}
	if (in_parts)
		cut(p, queue, idx & 15, RAM + at, size);
	else
		put_descriptor(p, ring_at(p, queue), idx & 15, RAM + at, size,
		               queue == PORT_SENDS ? 0 : 2, 0);
	poke16(p, avail + 4 + 2 * (idx & 15), idx & 15);
	poke16(p, avail + 2, idx + 1U);
}

/* --- what must hold ------------------------------------------------------------------------------
 */

static void check(const struct model_port *p)
{
	struct port_counts c = driver_counts(&p->d);

	require(c.sent == p->counts.sent && c.sent_bytes == p->counts.sent_bytes);
	require(c.refused == p->counts.refused && c.lost == p->counts.lost);
	require(c.received == p->counts.received && c.received_bytes == p->counts.received_bytes);
	require(!!(in(&p->d, STATUS, 1) & 0x40) == p->broken);
}

/* The level of a VM's interrupt is that of the port that changed it last: VM 0 has two. */
static void check_all(void)
{
	for (uint32_t i = 0; i < MODEL_PORTS; i++) {
		const struct model_port *p = &model_ports[i];

		check(p);
		if (p->station)
			require(levels[p->station] ==
			        (p->isr && !(space(&p->d, PCI_COMMAND) & NO_INTX)));
		require(!!(space(&p->d, PCI_COMMAND) >> 16 & 8) == !!p->isr);
	}
}

/* All of it takes long; a difference stays there. */
static void check_memory(void)
{
	require(!memcmp(rams, model_rams, sizeof(rams)));
}

/* In several stays an interrupt for buffers may come before the queue is found malformed. */
static void read_isr(struct model_port *p)
{
	uint64_t isr = in(&p->d, ISR, 1);

	require(isr == p->isr || (p->isr == 2 && isr == 3));
	p->isr = 0;
}

static void notify(struct model_port *p)
{
	uint32_t how = byte(), stays = 0, most = model_notify(p);

	/* Never 0: a loop that does not end would be cut into stays for ever. */
	instret_step = how & 3 ? 1 : 1 + 8U * how;
	do {
		driver_vcpu->call.again = false;
		out(&p->d, NOTIFY, 1, 2);
		require(stays++ <= 8 * most + 8);
	} while (driver_vcpu->call.again);
	instret_step = 0;
}

static void end_life(struct model_port *p)
{
	for (uint32_t alive = 0; alive < 2; alive++) {
		ports_reset(p->d.vm, alive);
		for (uint32_t i = 0; i < MODEL_PORTS; i++) {
			if (model_ports[i].station == p->station)
				model_reset(&model_ports[i], alive);
		}
	}
	levels[p->station] = false; /* as the VM's interrupt controller is reset, too */
}

static void change_link(struct model_port *p)
{
	p->down = !p->down;
	port_link(p->d.vm, p->d.n, !p->down);
	require(port_is_up(p->d.vm, p->d.n) == !p->down);
	if (p->live && !p->broken)
		p->isr |= 2;
}

static void step(void)
{
	uint32_t what = byte();
	struct model_port *p = &model_ports[(what >> 4) % MODEL_PORTS];
	uint32_t offset;

	switch (what & 15) {
	case 0:
		set_up(p);
		break;
	case 1:
		offset = byte() % 0x40;
		write_common(p, offset, number() | number() << 16, 1U << (offset & 1 ? 0 : 1));
		break;
	case 2:
		set_space(&p->d, PCI_COMMAND, number());
		model_changed(p);
		break;
	case 3:
		read_isr(p);
		break;
	case 4:
		describe(p);
		break;
	case 5:
		frame(p, PORT_SENDS, true);
		notify(p);
		break;
	case 6:
		offer(p);
		break;
	case 7:
	case 8:
		frame(p, PORT_RECEIVES, what & 8);
		break;
	case 9:
	case 10:
		frame(p, PORT_SENDS, what & 2);
		break;
	case 11:
		poke16(p, (ring_at(p, byte() & 1) + number()) % (BYTES - 2), number());
		break;
	case 12:
		byte() & 7 ? change_link(p) : end_life(p);
		break;
	default:
		notify(p);
		check_all();
		if (!(left & 31))
			check_memory();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vcpu vcpu;

	driver_vcpu = &vcpu;
	bytes = data;
	left = size;
	instret_step = 0;
	stations_make();
	model_make();
	while (left)
		step();
	for (uint32_t i = 0; i < MODEL_PORTS; i++)
		notify(&model_ports[i]);
	check_all();
	check_memory();
	return 0;
}
