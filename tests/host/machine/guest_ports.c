/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests have ports of networks, one each, and send each other frames. The first vcpu of a VM is
 * its driver: it sets the device up by what the device has of that so far, so it goes on after any
 * exit.
 */
#include <string.h>

#include "core/tree/pci_node.h"
#include "tests/host/machine/guest_acts.h"
#include "tests/host/machine/guest_ports.h"

/* Registers of the common configuration (VIRTIO 1.2, 4.1.4.3), and what is written there. */
enum {
	FEATURES_WORD = 0x08,
	FEATURES = 0x0c,
	STATUS = 0x14,
	QUEUE_NUMBER = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_ENABLE = 0x1c,
	QUEUE_AREAS = 0x20
};
#define NOTIFY (VIRTIO_PCI_NOTIFY * VIRTIO_PCI_PART + PORT_SENDS * VIRTIO_PCI_NOTIFY_STEP)
#define ISR    (VIRTIO_PCI_ISR * VIRTIO_PCI_PART)
#define DRIVER 0x03U
#define WRITES 2U /* of a descriptor: the device does */

static struct chance *luck(void)
{
	return &machine.chance;
}

/* --- the device ---------------------------------------------------------------------------- */

static void writes(struct machine_hart *h, uint64_t offset, uint32_t width, uint64_t value)
{
	h->x[5] = value;
	guest_access(h, GUEST_PORT_BASE + offset, true, width, 5);
}

/* Its rings are empty then. */
static void clears_rings(const struct vm *vm, struct station *s)
{
	memset(port_memory(vm, 0, 0), 0, PORT_QUEUES * QUEUE);
	s->looked = s->counted = s->heard = 0;
	s->given = 0;
	s->told.on = false;
}

static void sets_up_queue(struct machine_hart *h, const struct vcpu *vcpu, uint32_t n)
{
	const struct virtio *v = &vcpu->vm->ports[0]->device.virtio;
	static const uint64_t areas[VIRTIO_AREAS] = {0, AVAILABLE, USED};

	if (v->queue != n) {
		writes(h, QUEUE_NUMBER, 1, n);
		return;
	}
	if (v->queues[n].size != SLOTS) {
		writes(h, QUEUE_SIZE, 1, SLOTS);
		return;
	}
	for (uint32_t i = 0; i < VIRTIO_AREAS; i++) {
		uint64_t at = model_ram(vcpu->vm) + AT + n * QUEUE + areas[i];

		if (v->queues[n].areas[i] == at)
			continue;
		if ((uint32_t)v->queues[n].areas[i] != (uint32_t)at)
			writes(h, QUEUE_AREAS + 8 * i, 2, (uint32_t)at);
		else
			writes(h, QUEUE_AREAS + 8 * i + 4, 2, at >> 32);
		return;
	}
	writes(h, QUEUE_ENABLE, 1, 1);
}

/* The next write on the way to a device that is live. */
static void sets_up(struct machine_hart *h, const struct vcpu *vcpu, struct station *s)
{
	const struct virtio_pci *d = &vcpu->vm->ports[0]->device;
	const struct virtio *v = &d->virtio;
	const struct vm_config *config = vcpu->vm->config;
	uint64_t ecam =
	    GUEST_ECAM_BASE + ((uint64_t)pci_node_slot(config, config->n_shared + 2) << 15);

	if (!(d->function.pci.header.command & PCI_COMMAND_MASTER)) {
		h->x[5] = 6;
		guest_access(h, ecam + PCI_COMMAND, true, 1, 5);
	} else if (!v->status) {
		clears_rings(vcpu->vm, s);
		writes(h, STATUS, 0, DRIVER);
	} else if (v->status & VIRTIO_NEEDS_RESET) {
		writes(h, STATUS, 0, 0);
	} else if (v->accepted != VIRTIO_F_VERSION_1) {
		writes(h, v->accepted_word == 1 ? FEATURES : FEATURES_WORD, 2, 1);
	} else if (!(v->status & VIRTIO_FEATURES_OK)) {
		writes(h, STATUS, 0, DRIVER | VIRTIO_FEATURES_OK);
	} else if (!v->queues[PORT_RECEIVES].enabled) {
		sets_up_queue(h, vcpu, PORT_RECEIVES);
	} else if (!v->queues[PORT_SENDS].enabled) {
		sets_up_queue(h, vcpu, PORT_SENDS);
	} else {
		writes(h, STATUS, 0, DRIVER | VIRTIO_FEATURES_OK | VIRTIO_DRIVER_OK);
	}
}

static void offers(const struct vm *vm, uint32_t queue, uint32_t slot, uint32_t size)
{
	struct descriptor *d = (struct descriptor *)port_memory(vm, queue, 0) + slot;
	struct available *available = (struct available *)port_memory(vm, queue, AVAILABLE);

	*d = (struct descriptor){.at = model_ram(vm) + AT + queue * QUEUE + BUFFERS + slot * SLOT,
	                         .size = size,
	                         .flags = queue == PORT_RECEIVES ? WRITES : 0};
	available->heads[available->n % SLOTS] = (uint16_t)slot;
	available->n++;
}

/* --- frames -------------------------------------------------------------------------------- */

/* The frames that its device has done with. It returns them in their order. */
static void counts_sent(const struct vcpu *vcpu, struct station *s)
{
	const struct used *used = (const struct used *)port_memory(vcpu->vm, PORT_SENDS, USED);

	for (; s->counted != used->n; s->counted++) {
		uint32_t slot = s->counted % SLOTS;

		if (used->entries[slot].head != slot || used->entries[slot].size)
			DIFFERS(vcpu, "buffer %u comes back as %u", slot, used->entries[slot].head);
		s->bad += s->forged[slot];
		s->good += !s->forged[slot];
		if (!s->forged[slot])
			model_frames(vcpu->vm, s->sent_to[slot], 0, 1);
	}
}

static void sends(struct machine_hart *h, const struct vcpu *vcpu, struct station *s)
{
	const struct vm *vm = vcpu->vm;
	uint16_t n = ((const struct available *)port_memory(vm, PORT_SENDS, AVAILABLE))->n;

	for (uint32_t k = 1 + below(luck(), 3); k && (uint16_t)(n - s->counted) < SLOTS; k--, n++) {
		uint32_t slot = n % SLOTS, to = below(luck(), n_vms + 1);
		struct content *c =
		    (struct content *)(port_memory(vm, PORT_SENDS, BUFFERS) + slot * SLOT);

		to = to == n_vms || !vms[to].config->n_ports ? EVERYBODY : to;
		s->forged[slot] = percent(luck(), 5);
		s->sent_to[slot] = (uint8_t)to;
		*c = (struct content){.sender = (uint8_t)vm->index,
		                      .receiver = (uint8_t)to,
		                      .number = ++s->number,
		                      .life = vm->htimedelta};
		memset(c->to, 0xff, sizeof(c->to));
		if (to != EVERYBODY)
			memcpy(c->to, port_mac(to), sizeof(c->to));
		memcpy(c->from, port_mac(vm->index), sizeof(c->from));
		c->from[5] ^= s->forged[slot];
		memset(c->more, (int)(s->number & 0xff), sizeof(c->more));
		if (!s->forged[slot])
			model_frames(vm, to, 1, 0);
		offers(vm, PORT_SENDS, slot, sizeof(*c));
	}
	writes(h, NOTIFY, 1, PORT_SENDS);
}

/* The frames that came. */
static void receives(const struct vcpu *vcpu, struct station *s)
{
	const struct vm *vm = vcpu->vm;
	const struct used *used = (const struct used *)port_memory(vm, PORT_RECEIVES, USED);

	for (; s->looked != used->n; s->looked++) {
		uint32_t slot = used->entries[s->looked % SLOTS].head;

		if (slot >= SLOTS || !(s->given >> slot & 1) ||
		    used->entries[s->looked % SLOTS].size != sizeof(struct content))
			DIFFERS(vcpu, "it gets a frame in buffer %u, which it has not given", slot);
		s->given &= ~(1U << slot);
		s->received++;
		model_frame(vcpu, s,
		            (const struct content *)(port_memory(vm, PORT_RECEIVES, BUFFERS) +
		                                     slot * SLOT));
	}
}

static void gives(const struct vm *vm, struct station *s)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (s->given >> slot & 1 || !percent(luck(), 70))
			continue;
		s->given |= 1U << slot;
		offers(vm, PORT_RECEIVES, slot, SLOT);
	}
}

void guest_uses_port(struct machine_hart *h, struct vcpu *vcpu)
{
	const struct virtio_pci *d = &vcpu->vm->ports[0]->device;
	struct station *s = &stations[vcpu->vm->index];
	uint32_t act = below(luck(), 100);

	if (s->life != vcpu->vm->htimedelta) {
		model_port_begins(vcpu, s);
		clears_rings(vcpu->vm, s);
	}
	counts_sent(vcpu, s);
	receives(vcpu, s);
	model_port(vcpu, s);
	if (!virtio_pci_is_live(d)) {
		sets_up(h, vcpu, s);
		return;
	}
	gives(vcpu->vm, s);
	if (act < 8) {
		writes(h, STATUS, 0, 0);
	} else if (act < 30) {
		s->reads_isr = true;
		guest_access(h, GUEST_PORT_BASE + ISR, false, 0, 5);
	} else {
		sends(h, vcpu, s);
	}
}
