/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of virtio-MMIO, version 2 (VIRTIO 1.2, 4.2.2), for a device that is in a slot of a
 * VM with machine = "virt". Its state is that of a device on the bus (core/io/virtio_pci.h).
 */
#ifndef CORE_IO_VIRTIO_MMIO_H
#define CORE_IO_VIRTIO_MMIO_H

#include "core/io/virtio_pci.h"

#define VIRTIO_MMIO_NOTIFY 0x50U /* the offset of QueueNotify */

/* Makes the device. d->function.vm and its source are set. At boot only. */
void virtio_mmio_make(struct virtio_pci *d, const struct virtio_pci_kind *kind);

/*
 * Accesses to the page of a slot; the caller does not hold the lock. Registers below 0x100 have 32
 * bits: other widths read 0 and write nothing, as do offsets without a register. What is for
 * writing only reads as its state. Writes to QueueNotify are the caller's. d is NULL for reads of
 * an empty slot: then only MagicValue and Version are not 0 (VIRTIO 1.2, 4.2.2.2).
 */
uint64_t virtio_mmio_read(struct virtio_pci *d, uint32_t offset, uint32_t width);
void virtio_mmio_write(struct virtio_pci *d, uint32_t offset, uint32_t value, uint32_t width);

#endif
