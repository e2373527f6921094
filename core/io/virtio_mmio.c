/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/virtio_mmio.h"

#include "core/vcpu/vm.h"

/* Registers that the common configuration does not have, and QueueSel and QueueReady, whose values
 * differ. The others are where virtio_mmio_offset() says. */
enum {
	MAGIC = 0x00,
	VERSION = 0x04,
	DEVICE_ID = 0x08,
	VENDOR = 0x0c,
	QUEUE_SELECT = 0x30,
	QUEUE_MAX = 0x34,
	QUEUE_READY = 0x44,
	INTERRUPT = 0x60,
	ACKNOWLEDGE = 0x64,
	SHARED_LENGTH = 0xb0, /* of shared memory, and its address: 16 bytes */
	SHARED_END = 0xc0,
	CONFIG = 0x100,
};

#define VIRT_MAGIC  0x74726976U /* "virt", little-endian */
#define VIRT_VENDOR 0x554d4551U /* "QEMU": kernels for that machine look for it */
#define PCI_TYPES   0x1040U     /* the type of a device is its PCI device ID less this */

void virtio_mmio_make(struct virtio_pci *d, const struct virtio_pci_kind *kind)
{
	virtio_pci_begin(d, kind);
	d->in_slot = true;
}

/* The caller has the lock. */
static uint32_t read_register(const struct virtio_pci *d, uint32_t offset)
{
	const struct virtio *v = &d->virtio;

	switch (offset) {
	case DEVICE_ID:
		return (d->kind->id >> 16) - PCI_TYPES;
	case VENDOR:
		return VIRT_VENDOR;
	case QUEUE_MAX:
		return v->queue < v->n_queues ? v->queue_size : 0;
	case INTERRUPT:
		return d->function.state;
	default:
		/* There is no shared memory, whichever is selected. */
		return offset >= SHARED_LENGTH && offset < SHARED_END
		           ? ~0U
		           : virtio_read(v, virtio_mmio_offset(offset));
	}
}

uint64_t virtio_mmio_read(struct virtio_pci *d, uint32_t offset, uint32_t width)
{
	struct spinlock *lock;
	uint64_t value;

	if (offset < CONFIG && (width != 4 || offset % 4))
		return 0;
	if (offset == MAGIC)
		return VIRT_MAGIC;
	if (offset == VERSION)
		return 2;
	if (!d)
		return 0;
	lock = &d->function.vm->devices;
	spin_lock(lock);
	value = offset < CONFIG ? read_register(d, offset)
	                        : d->kind->read_config(d, offset - CONFIG, width);
	spin_unlock(lock);
	return value;
}

/* The caller has the lock. */
static void write_register(struct virtio_pci *d, uint32_t offset, uint32_t value)
{
	if (offset == ACKNOWLEDGE) {
		d->function.state &= ~value;
		notifier_update(&d->function);
		return;
	}
	if (offset == QUEUE_READY && !value)
		virtio_stop_queue(&d->virtio);
	/* The common configuration has 16 bits of it. */
	if (offset == QUEUE_SELECT && value > UINT16_MAX)
		value = UINT16_MAX;
	virtio_pci_configure(d, virtio_mmio_offset(offset), value);
}

void virtio_mmio_write(struct virtio_pci *d, uint32_t offset, uint32_t value, uint32_t width)
{
	struct spinlock *lock = &d->function.vm->devices;

	if (offset < CONFIG && (width != 4 || offset % 4))
		return;
	spin_lock(lock);
	if (offset < CONFIG)
		write_register(d, offset, value);
	else
		d->kind->write_config(d, offset - CONFIG, (uint8_t)value);
	spin_unlock(lock);
}
