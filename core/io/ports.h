/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports of networks between VMs (docs/networks.md): virtio network devices (VIRTIO 1.2, 5.1) that
 * are PCI functions with INTx, or in slots of virtio-MMIO. Tally is the switch. The hart of the
 * sender copies each frame once, from the sender's buffers into the receiver's, in the store that
 * notifies the device: the sender pays. The receiver pays for its interrupt.
 */
#ifndef CORE_IO_PORTS_H
#define CORE_IO_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/host/vm_config.h"

struct vm;

/* Of one life. Bytes are those of frames, from the destination's address on. */
struct port_counts {
	uint64_t sent, sent_bytes;
	/* Not sent: a wrong length, a source that the port may not have, or over its limit. */
	uint64_t refused;
	uint64_t received, received_bytes;
	/* Not received, as there was no buffer or the link was down; and sent, but not to the
	 * network, as the link was down. */
	uint64_t lost;
};

/* Makes the ports of all VMs; n_vms is set. alloc() returns zeroed memory. At boot only. */
void ports_make(const struct vm_tree *tree, void *(*alloc)(size_t size));

/* Adds a VM's ports to its bus, as its last functions; with machine = "virt" puts them into slots.
 * At boot only. */
void ports_add(struct vm *vm);

/* A life begins (`alive`), or is over: then nothing of the VM's memory is accessed any more when it
 * returns. Waits for other harts that copy a frame. No effect for VMs without ports. */
void ports_reset(struct vm *vm, bool alive);

/* Returns the name of the network of the VM's n-th port. Any hart may call it. */
const char *port_network(const struct vm *vm, uint32_t n);

/* Whether the link of the VM's n-th port is up, as it is at power-on; lives do not change it. Any
 * hart may call both. The guest is told of changes (VIRTIO 1.2, 5.1.4). The caller of port_link()
 * holds no lock. */
bool port_is_up(const struct vm *vm, uint32_t n);
void port_link(const struct vm *vm, uint32_t n, bool up);

/* Reads the counts of the VM's n-th port. Any hart may call it. */
void port_counts_read(const struct vm *vm, uint32_t n, struct port_counts *counts);

/* Accesses to the pages of the VM's ports: a row of core/dispatch/mmio.c. */
uint64_t ports_read(struct vm *vm, uint64_t offset, uint32_t width);

/* May set this_vcpu()->call.again: then the store is not done, and the guest has to execute it once
 * more, after its interrupts. */
void ports_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
