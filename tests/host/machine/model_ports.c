/* SPDX-License-Identifier: Apache-2.0 */
/* Frames between VMs: what must hold when one comes, and of a port at any time. */
#include <string.h>

#include "tests/host/machine/guest_ports.h"

struct station stations[VM_MAX_VMS];

void model_ports_reset(void)
{
	memset(stations, 0, sizeof(stations));
}

static bool are_connected(const struct vm *a, const struct vm *b)
{
	return a != b && a->config->n_ports && b->config->n_ports &&
	       a->config->ports[0].network == b->config->ports[0].network;
}

/* What is sent to a VM has been given to a device, or the device has done with it. */
void model_frames(const struct vm *from, uint32_t to, uint64_t posted, uint64_t done)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (are_connected(from, &vms[i]) && (to == i || to == EVERYBODY)) {
			stations[i].known.posted += posted;
			stations[i].known.done += done;
		}
	}
}

void model_frame(const struct vcpu *vcpu, struct station *s, const struct content *c)
{
	const struct vm *vm = vcpu->vm;
	static const uint8_t header[PORT_HEADER] = {[PORT_HEADER - 2] = 1};

	if (memcmp(c->header, header, sizeof(header)) != 0)
		DIFFERS(vcpu, "the header of a frame is none of a device");
	if (c->sender >= n_vms || !are_connected(vm, &vms[c->sender]) ||
	    memcmp(c->from, port_mac(c->sender), sizeof(c->from)) != 0)
		DIFFERS(vcpu, "it gets a frame of vm%u, which sent none", c->sender);
	if (c->receiver != EVERYBODY && c->receiver != vm->index)
		DIFFERS(vcpu, "it gets a frame for vm%u", c->receiver);
	if (c->number <= s->last[c->sender] || c->number > stations[c->sender].number)
		DIFFERS(vcpu, "frame %u of vm%u comes behind frame %u", c->number, c->sender,
		        s->last[c->sender]);
	for (uint32_t i = 0; i < sizeof(c->more); i++) {
		if (c->more[i] != (c->number & 0xff))
			DIFFERS(vcpu, "frame %u of vm%u has changed", c->number, c->sender);
	}
	s->last[c->sender] = c->number;
}

static bool is_free(const struct spinlock *lock)
{
	return lock->next == lock->serving;
}

/* Each frame is accounted for, where no hart is in the middle of one. What others send to this life
 * is known to be between two numbers. */
static void look_at_counts(const struct vcpu *vcpu, struct station *s)
{
	const struct port *p = vcpu->vm->ports[0];
	const struct port_counts *c = &p->counts;
	uint64_t came = c->received + c->lost;

	if (!is_free(&p->lock) || p->queues[PORT_SENDS].users)
		return;
	if (c->sent != s->good || c->refused != s->bad)
		DIFFERS(vcpu, "its port sent %lu frames and refused %lu, of %lu and %lu", c->sent,
		        c->refused, s->good, s->bad);
	if (c->received != s->received)
		DIFFERS(vcpu, "its port received %lu frames, and it got %lu", c->received,
		        s->received);
	if (came > s->known.posted - s->before.done || came + s->before.posted < s->known.done)
		DIFFERS(vcpu, "%lu frames came or were lost, of %lu to %lu", came,
		        s->known.done - s->before.posted, s->known.posted - s->before.done);
}

/* A frame that came has interrupted it, unless it has read the ISR since. */
static void look_at_interrupt(const struct vcpu *vcpu, struct station *s)
{
	const struct virtio_pci *d = &vcpu->vm->ports[0]->device;
	bool quiet = port_used(vcpu->vm, PORT_RECEIVES) != s->heard && virtio_pci_is_live(d) &&
	             !(d->function.state & VIRTIO_PCI_ISR_QUEUE);

	if (quiet && model_is_late(&s->told))
		DIFFERS(vcpu, "a frame came, and nothing interrupted it");
	s->told.on &= quiet;
}

void model_port(const struct vcpu *vcpu, struct station *s)
{
	look_at_counts(vcpu, s);
	s->done = s->known.done;
	if (s->reads_isr)
		s->heard = port_used(vcpu->vm, PORT_RECEIVES);
	s->reads_isr = false;
	look_at_interrupt(vcpu, s);
}

void model_port_begins(const struct vcpu *vcpu, struct station *s)
{
	const uint8_t *area = port_memory(vcpu->vm, 0, 0);

	s->life = vcpu->vm->htimedelta;
	s->good = s->bad = s->received = 0;
	s->before = (struct known){.posted = s->known.posted, .done = s->done};
	s->reads_isr = false;
	for (uint64_t i = 0; i < PORT_QUEUES * QUEUE; i++) {
		if (area[i])
			DIFFERS(vcpu, "its queues have something of a life before");
	}
}
