/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes are what the drivers of all ports of two networks do, hostile or not: registers,
 * configuration space, descriptors, rings, frames, notifications, and lives and links. Each
 * notification changes what a model says, byte for byte in the memory of all VMs, and nothing else;
 * counts, interrupts and status are the model's; in however many stays. With offloads these are so
 * after each stay, and between two of them drivers may do anything.
 */
#include <string.h>

#include "core/vcpu/vcpu.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_ports.h"

/* The first byte, if network 0 has offloads. */
#define OFFLOAD 0xffU

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

static struct model_progress progress(const struct model_port *p)
{
	const struct port *port = p->d.vm->ports[p->d.n];
	const struct port_offload *o = port->offload;

	return (struct model_progress){.next = port->queues[PORT_SENDS].ring.next,
	                               .more = driver_vcpu->call.again,
	                               .to = o->to,
	                               .reached = port->reached,
	                               .n = o->to ? o->n : 0,
	                               .copied = o->to && o->n ? o->copied : 0};
}

static bool stay(const struct model_port *p)
{
	driver_vcpu->call.again = false;
	out(&p->d, NOTIFY, 1, 2);
	return driver_vcpu->call.again;
}

static bool is_further(const struct model_progress *now, const struct model_progress *last)
{
	return now->next != last->next || now->to != last->to || now->reached != last->reached ||
	       now->n != last->n || now->copied != last->copied;
}

/* At most so many stays; each comes further. */
static void notify_stays(struct model_port *p, uint32_t most)
{
	struct model_progress last = progress(p), now;

	for (bool more = true; more && most; most--) {
		more = stay(p);
		now = progress(p);
		require(!more || is_further(&now, &last));
		/* The model looks at the queue where the device did. */
		if (p->queues[PORT_SENDS].live)
			model_stay(p, &now);
		last = now;
	}
}

/* The sender stops and starts after each stay: the frame begins anew. */
static void stutter(struct model_port *p)
{
	uint32_t how = fuzz_byte();

	for (uint32_t i = 0; i <= (how & 7); i++) {
		instret_step = 1 + 8U * how;
		notify_stays(p, 1);
		instret_step = 0;
		for (uint32_t on = 0; on < 2; on++) {
			set_space(&p->d, PCI_COMMAND, on ? MASTERS : 0);
			model_changed(p);
		}
		check_all();
	}
}

static void enable_later(struct model_port *p)
{
	fuzz_write_common(p, 0x16, PORT_RECEIVES, 2);
	fuzz_write_common(p, 0x1c, 1, 2);
}

static void notify(struct model_port *p)
{
	uint32_t how = fuzz_byte(), stays = 0, most;

	/* Never 0: a loop that does not end would be cut into stays for ever. */
	instret_step = how & 3 ? 1 : 1 + 8U * how;
	if (p->offload) {
		notify_stays(p, how & 3 || !(how & 4) ? ~0U : 1 + (how >> 3 & 7));
		instret_step = 0;
		return;
	}
	most = model_notify(p);
	while (stay(p))
		require(stays++ <= 8 * most + 8);
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
	uint32_t what = fuzz_byte();
	struct model_port *p = &model_ports[(what >> 4) % MODEL_PORTS];
	uint32_t offset, value;
	uint64_t at;

	switch (what & 15) {
	case 0:
		fuzz_set_up(p);
		break;
	case 1:
		offset = fuzz_byte() % 0x40;
		value = fuzz_number();
		value |= fuzz_number() << 16;
		fuzz_write_common(p, offset, value, 1U << (offset & 1 ? 0 : 1));
		break;
	case 2:
		set_space(&p->d, PCI_COMMAND, fuzz_number());
		model_changed(p);
		break;
	case 3:
		read_isr(p);
		break;
	case 4:
		fuzz_describe(p);
		break;
	case 5:
		fuzz_frame(p, PORT_SENDS, true);
		notify(p);
		break;
	case 6:
		fuzz_offer(p);
		break;
	case 7:
	case 8:
		fuzz_frame(p, PORT_RECEIVES, what & 8);
		break;
	case 9:
	case 10:
		fuzz_frame(p, PORT_SENDS, what & 2);
		break;
	case 11:
		at = fuzz_ring_at(p, fuzz_byte() & 1);
		at = (at + fuzz_number()) % (BYTES - 2);
		fuzz_poke16(p, at, fuzz_number());
		break;
	case 12:
		fuzz_byte() & 7 ? change_link(p) : end_life(p);
		break;
	default:
		if (p->offload && (what & 15) == 14)
			stutter(p);
		else if (p->offload && (what & 15) == 15)
			enable_later(p);
		else
			notify(p);
		check_all();
		if (!(fuzz_left() & 31))
			check_memory();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vcpu vcpu;

	driver_vcpu = &vcpu;
	fuzz_begin(data, size);
	instret_step = 0;
	stations_offload(size && *data == OFFLOAD);
	stations_make();
	model_make(size && *data == OFFLOAD);
	if (model_ports[0].offload)
		(void)fuzz_byte();
	while (fuzz_left())
		step();
	for (uint32_t i = 0; i < MODEL_PORTS; i++)
		notify(&model_ports[i]);
	check_all();
	check_memory();
	return 0;
}
