/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtio device that Tally emulates, as a PCI function with INTx (VIRTIO 1.2, 4.1), and with
 * MSI-X if its kind wants that and the VM has an AIA. BAR 0 is one page with all registers, which
 * traps. The lock of the VM's devices protects what is not constant, unless the kind of device says
 * otherwise.
 */
#ifndef CORE_IO_VIRTIO_PCI_H
#define CORE_IO_VIRTIO_PCI_H

#include "core/devices/virtio.h"
#include "core/io/notifier.h"

#define VIRTIO_PCI_PAGE UINT64_C(0x1000)

/* Parts of BAR 0, in the order of the types of their capabilities, 1 to 4. */
#define VIRTIO_PCI_PART 0x100U
enum { VIRTIO_PCI_COMMON, VIRTIO_PCI_NOTIFY, VIRTIO_PCI_ISR, VIRTIO_PCI_CONFIG, VIRTIO_PCI_PARTS };
#define VIRTIO_PCI_NOTIFY_STEP 4U /* bytes from one queue to the next */

/* The part behind them: the table of MSI-X, and the pending bits (PCI Express 5.0, 7.7.2). */
#define VIRTIO_PCI_MESSAGES    VIRTIO_PCI_PARTS
#define VIRTIO_PCI_VECTORS     (VIRTIO_MAX_QUEUES + 1)
#define VIRTIO_PCI_ENTRY_WORDS 4UL /* address, its upper half, data, control */
#define VIRTIO_PCI_PENDING     (VIRTIO_PCI_VECTORS * VIRTIO_PCI_ENTRY_WORDS)

/* Bits of the ISR status, which is the notifier's state. */
#define VIRTIO_PCI_ISR_QUEUE  1U
#define VIRTIO_PCI_ISR_CONFIG 2U
#define VIRTIO_PCI_ISR_ALL    (VIRTIO_PCI_ISR_QUEUE | VIRTIO_PCI_ISR_CONFIG)

struct virtio_pci;

/* The kind of a device. The lock of the VM's devices is held, also in a notification. */
struct virtio_pci_kind {
	uint32_t id, class; /* as in configuration space */
	uint16_t n_queues, queue_size;
	bool messages; /* it has MSI-X if the VM has an AIA */
	uint64_t features;
	/* Accesses to its own configuration: `width` bytes, 1 to 8; of a write the lowest one. */
	uint64_t (*read_config)(const struct virtio_pci *d, uint32_t offset, uint32_t width);
	void (*write_config)(struct virtio_pci *d, uint32_t offset, uint8_t value);
	void (*notify)(struct virtio_pci *d, uint32_t queue);
	/* The driver has changed the common configuration, or whether it may master the bus. */
	void (*changed)(struct virtio_pci *d);
};

struct virtio_pci {
	struct notifier function;
	struct virtio virtio;
	const struct virtio_pci_kind *kind; /* constant after boot, as `in_slot` */
	bool in_slot;       /* it has the registers of virtio-MMIO, and is no function of the bus */
	uint32_t window[3]; /* as the driver has written it */
	/* MSI-X: enable and mask of the capability; the table, as the driver has written it, and
	 * the pending bits, which are 64. */
	uint16_t messages_control;
	uint32_t messages[VIRTIO_PCI_PENDING + 2];
};

/* Adds the device to its VM's bus, with BAR 0 there. d->function.vm and its source are set. At boot
 * only. */
void virtio_pci_make(struct virtio_pci *d, const struct virtio_pci_kind *kind, uint32_t slot,
                     uint64_t bar);

/* Gives the device its kind. At boot only. */
void virtio_pci_begin(struct virtio_pci *d, const struct virtio_pci_kind *kind);

/* A life begins (`alive`), or is over: all is as after reset. The caller holds the lock, and knows
 * of the change. */
void virtio_pci_reset(struct virtio_pci *d, bool alive);

/* Whether the driver has set the device up, and nothing has failed since. The caller holds the
 * lock. */
static inline bool virtio_pci_is_live(const struct virtio_pci *d)
{
	return virtio_is_live(&d->virtio) && d->function.pci.header.command & PCI_COMMAND_MASTER;
}

/* Whether that is so, in a life of the VM. */
static inline bool virtio_pci_runs(const struct virtio_pci *d)
{
	return atomic_load_explicit(&d->function.alive, memory_order_relaxed) &&
	       virtio_pci_is_live(d);
}

/* Interrupts the VM: buffers of the queue were used, or (`good` is false) the driver has to reset
 * the device. The caller holds the lock. */
void virtio_pci_tell(struct virtio_pci *d, uint32_t queue, bool good);

/* The device's own configuration has changed, which the driver has to read again. The caller holds
 * the lock. */
void virtio_pci_reconfigured(struct virtio_pci *d);

/* The driver writes a register of the common configuration (core/devices/virtio.h). The caller
 * holds the lock. */
void virtio_pci_configure(struct virtio_pci *d, uint32_t offset, uint32_t value);

/* Accesses to the page. The caller does not hold the lock. */
uint64_t virtio_pci_read(struct virtio_pci *d, uint64_t offset, uint32_t width);
void virtio_pci_write(struct virtio_pci *d, uint64_t offset, uint64_t value, uint32_t width);

#endif
