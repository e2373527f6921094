/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/ports.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/ports_parts.h"
#include "core/io/virtio_mmio.h"
#include "core/log.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/vcpu.h"

#define F_CSUM       (UINT64_C(1) << 0)
#define F_GUEST_CSUM (UINT64_C(1) << 1)
#define F_MTU        (UINT64_C(1) << 3)
#define F_MAC        (UINT64_C(1) << 5)
#define F_GUEST_TSO4 (UINT64_C(1) << 7)
#define F_GUEST_TSO6 (UINT64_C(1) << 8)
#define F_HOST_TSO4  (UINT64_C(1) << 11)
#define F_HOST_TSO6  (UINT64_C(1) << 12)
#define F_MRG_RXBUF  (UINT64_C(1) << 15)
#define F_STATUS     (UINT64_C(1) << 16)

/* Offloads (VIRTIO 1.2, 5.1.3): those of senders, and those that a driver has to take, as it gets
 * what any other port sends. */
#define SENDS_LARGE (F_CSUM | F_HOST_TSO4 | F_HOST_TSO6)
#define TAKES_LARGE (F_GUEST_CSUM | F_GUEST_TSO4 | F_GUEST_TSO6 | F_MRG_RXBUF)

#define MTU        1500U
#define QUEUE_SIZE 1024U

_Static_assert(VSWITCH_PORTS == VM_MAX_VMS, "each VM may have one of a network");
_Static_assert(VM_MIN_PORT_BYTES == ETHERNET_MAX && VM_MIN_LARGE_BYTES == PORT_LARGE_MAX,
               "each frame is within a limit");

static struct port *port_of(struct virtio_pci *d)
{
	return (struct port *)d;
}

/* --- the device: the caller has the lock of the VM's devices ------------------------------- */

static uint64_t read_config(const struct virtio_pci *d, uint32_t offset, uint32_t width)
{
	const struct port_config *config = &((const struct port *)d)->shown;
	uint64_t value = 0;

	for (uint32_t i = 0; i < width && offset + i < sizeof(*config); i++)
		value |= (uint64_t)((const uint8_t *)config)[offset + i] << 8 * i;
	return value;
}

static void write_config(struct virtio_pci *d, uint32_t offset, uint8_t value)
{
	(void)d; /* it has nothing that may be written */
	(void)offset;
	(void)value;
}

/* By the window in configuration space, with the lock: the vcpu goes on as in a long call. */
static bool send_more(struct vcpu *vcpu)
{
	return !port_send((struct port *)vcpu->call.at);
}

static void notify(struct virtio_pci *d, uint32_t queue)
{
	const struct long_call call = {
	    .slice = send_more, .at = (uintptr_t)port_of(d), .cause = EXIT_MMIO};

	if (queue == PORT_SENDS)
		long_call_begin(this_vcpu(), &call);
}

/* Each user is done after the rest of a frame, or of a stay (docs/waits.md). */
static void stop(struct port *p, struct port_queue *q, struct virtio_queue *ring)
{
	uint32_t users;

	do { /* WAITS */
		spin_lock(&p->lock);
		atomic_store_explicit(&q->live, false, memory_order_relaxed);
		port_set_malformed(q, false);
		users = q->users;
		spin_unlock(&p->lock);
	} while (users);
	if (p->offload && q == &p->queues[PORT_SENDS])
		port_offload_stop(p);
	/* It goes on there if there was no reset. */
	if (!ring->enabled) {
		q->epoch++;
		q->owed = false;
	} else if (q->started) {
		ring->next = q->ring.next;
		ring->used = q->ring.n_used;
	}
}

static void start(struct port *p, struct port_queue *q, const struct virtio_queue *ring)
{
	struct virtio_pci *d = &p->device;
	bool good;

	spin_lock(&p->lock);
	good = virtqueue_map(d->function.vm, ring, d->virtio.accepted, &q->ring);
	atomic_store_explicit(&q->live, good, memory_order_relaxed);
	port_set_malformed(q, !good);
	/* The other queue may start while a frame is on its way. */
	if (q == &p->queues[PORT_SENDS])
		p->reached = p->admitted = 0;
	spin_unlock(&p->lock);
	if (!good)
		virtio_pci_tell(d, 0, false);
}

/* Starts and stops the queues, as the driver has set them up. */
static void changed(struct virtio_pci *d)
{
	struct port *p = port_of(d);
	bool live = virtio_pci_runs(d);

	if (p->offload && d->virtio.disagreed && !p->told_features) {
		p->told_features = true;
		log_line("vm %s: its driver does not take the offloads of network %s: no "
		         "FEATURES_OK",
		         d->function.vm->config->name, p->network->name);
	}
	for (uint32_t i = 0; i < PORT_QUEUES; i++) {
		struct port_queue *q = &p->queues[i];
		struct virtio_queue *ring = &d->virtio.queues[i];

		if (!live || !ring->enabled) {
			stop(p, q, ring);
		} else if (!q->started) {
			start(p, q, ring);
		}
		q->started = live && ring->enabled;
	}
}

/* --- the function -------------------------------------------------------------------------- */

static struct port *make(struct network *network, struct vm *vm, const struct vm_port *config,
                         void *(*alloc)(size_t size))
{
	struct vswitch *s = &network->switches;
	struct port *p = alloc(sizeof(*p));

	p->config = config;
	p->shown = (struct port_config){.status = LINK_UP, .max_queue_pairs = 1, .mtu = MTU};
	memcpy(p->shown.mac, config->mac, sizeof(p->shown.mac));
	p->network = network;
	p->number = s->n;
	p->device.function.vm = vm;
	p->device.function.source = config->source;
	/* Rounded up: on a slow clock, too, a period is no shorter. */
	if (config->frames_per_ms || config->bytes_per_ms)
		p->limit = (struct port_limit){.period = (platform.timebase + UINT64_C(999)) / 1000,
		                               .begun = csr_read(CSR_TIME)};
	if (network->offload)
		p->offload = alloc(sizeof(*p->offload));
	if (config->uplink)
		s->uplink = s->n;
	s->macs[s->n] = vswitch_mac(p->shown.mac);
	network->ports[s->n++] = p;
	return p;
}

void ports_make(const struct vm_tree *tree, void *(*alloc)(size_t size))
{
	struct network *networks;

	if (!tree->n_networks)
		return;
	networks = alloc(tree->n_networks * sizeof(*networks));
	for (uint32_t i = 0; i < tree->n_networks; i++) {
		networks[i].name = tree->networks[i].name;
		networks[i].offload = tree->networks[i].offload;
		networks[i].switches.uplink = VSWITCH_PORTS;
	}
	for (struct vm *vm = vms; vm < vms + n_vms; vm++) {
		const struct vm_config *config = vm->config;

		for (uint32_t n = 0; n < config->n_ports; n++)
			vm->ports[n] =
			    make(&networks[config->ports[n].network], vm, &config->ports[n], alloc);
	}
}

void ports_add(struct vm *vm)
{
	static const struct virtio_pci_kind kind = {
	    .id = 0x10411af4U,    /* VIRTIO 1.2, 4.1.2: 0x1040 and the type, 1 */
	    .class = 0x02000001U, /* Ethernet; revision 1 */
	    .n_queues = PORT_QUEUES,
	    .queue_size = QUEUE_SIZE,
	    .messages = true,
	    .features = F_MTU | F_MAC | F_STATUS | VIRTIO_F_INDIRECT_DESC | VIRTIO_F_EVENT_IDX |
	                VIRTIO_F_VERSION_1,
	    .read_config = read_config,
	    .write_config = write_config,
	    .notify = notify,
	    .changed = changed,
	};

	for (uint32_t n = 0; n < vm->config->n_ports; n++) {
		struct port *p = vm->ports[n];

		if (vm->config->virt)
			virtio_mmio_make(&p->device, &kind);
		else
			virtio_pci_make(&p->device, &kind,
			                pci_node_slot(vm->config, vm->config->n_shared + 2 + n),
			                vm_port_at(vm->config, n));
		if (p->offload) {
			p->device.virtio.offered |= SENDS_LARGE | TAKES_LARGE;
			p->device.virtio.needed = TAKES_LARGE;
		}
	}
}

void ports_reset(struct vm *vm, bool alive)
{
	for (uint32_t n = 0; n < vm->config->n_ports; n++) {
		struct port *p = vm->ports[n];

		spin_lock(&vm->devices);
		virtio_pci_reset(&p->device, alive);
		changed(&p->device);
		if (alive) {
			spin_lock(&p->lock);
			p->counts = (struct port_counts){0};
			spin_unlock(&p->lock);
		}
		spin_unlock(&vm->devices);
	}
}

const char *port_network(const struct vm *vm, uint32_t n)
{
	return vm->ports[n]->network->name;
}

bool port_is_up(const struct vm *vm, uint32_t n)
{
	return !port_down(vm->ports[n]);
}

void port_link(const struct vm *vm, uint32_t n, bool up)
{
	struct port *p = vm->ports[n];
	struct spinlock *lock = &p->device.function.vm->devices;

	spin_lock(lock);
	if (port_down(p) == up) {
		__atomic_store_n(&p->shown.status, up ? LINK_UP : 0, __ATOMIC_RELAXED);
		virtio_pci_reconfigured(&p->device);
	}
	spin_unlock(lock);
}

void port_counts_read(const struct vm *vm, uint32_t n, struct port_counts *counts)
{
	struct port *p = vm->ports[n];

	spin_lock(&p->lock);
	*counts = p->counts;
	spin_unlock(&p->lock);
}

uint64_t ports_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return virtio_pci_read(&vm->ports[offset / GUEST_PORT_STEP]->device,
	                       offset % GUEST_PORT_STEP, width);
}

void ports_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	struct port *p = vm->ports[offset / GUEST_PORT_STEP];
	uint64_t at = offset % GUEST_PORT_STEP;

	if (at == VIRTIO_PCI_NOTIFY * VIRTIO_PCI_PART + PORT_SENDS * VIRTIO_PCI_NOTIFY_STEP)
		this_vcpu()->call.again = !port_send(p);
	else if (at / VIRTIO_PCI_PART != VIRTIO_PCI_NOTIFY)
		virtio_pci_write(&p->device, at, value, width);
}
