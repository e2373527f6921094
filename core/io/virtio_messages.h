/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSI-X of a virtio device that Tally emulates (PCI Express 5.0, 7.7.2): its capability, its table
 * and pending bits in BAR 0, and what is sent. For core/io/virtio_pci.c alone, which holds the lock
 * of the VM's devices.
 */
#ifndef CORE_IO_VIRTIO_MESSAGES_H
#define CORE_IO_VIRTIO_MESSAGES_H

#include "core/io/virtio_pci.h"

#define VIRTIO_MESSAGES_CAP_WORDS 3U

/* What interrupts is a queue, or this. */
#define VIRTIO_CONFIGURATION VIRTIO_MAX_QUEUES

/* Writes the capability, but not where the next one is. At boot only. */
void virtio_messages_add(uint32_t words[VIRTIO_MESSAGES_CAP_WORDS]);

/* The driver writes the capability's control. With messages enabled there is no other interrupt. */
void virtio_messages_control(struct virtio_pci *d, uint32_t value);

/* Accesses to the table and the pending bits, `at` bytes behind their beginning. Those of less than
 * 4 bytes, or across a boundary of their width, read 0 and write nothing. */
uint64_t virtio_messages_read(const struct virtio_pci *d, uint32_t at, uint32_t width);
void virtio_messages_write(struct virtio_pci *d, uint32_t at, uint64_t value, uint32_t width);

/* A queue, or VIRTIO_CONFIGURATION, interrupts by the vector that the driver has given it. */
void virtio_messages_raise(struct virtio_pci *d, uint32_t from);

/* Sends what pends, unless it is masked. */
void virtio_messages_send(struct virtio_pci *d);

/* No message is sent, and all vectors are masked, as after reset. */
void virtio_messages_reset(struct virtio_pci *d);

#endif
