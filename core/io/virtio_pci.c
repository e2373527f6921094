/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/virtio_pci.h"

#include "core/io/virtio_messages.h"
#include "core/vcpu/vm.h"

#define PART VIRTIO_PCI_PART

/* The capabilities, in words of configuration space. The last one is the window, which accesses BAR
 * 0 by configuration space. */
#define CAP_WORDS     5U
#define CAP(i)        (PCI_FIRST_CAP / 4 + (i)*CAP_WORDS)
#define WINDOW_BAR    (CAP(VIRTIO_PCI_PARTS) + 1)
#define WINDOW_OFFSET (CAP(VIRTIO_PCI_PARTS) + 2)
#define WINDOW_SIZE   (CAP(VIRTIO_PCI_PARTS) + 3)
#define WINDOW_DATA   (CAP(VIRTIO_PCI_PARTS) + 4)
_Static_assert(WINDOW_DATA - WINDOW_BAR == ARRAY_SIZE(((struct virtio_pci *)0)->window), "words");

#define MSIX (WINDOW_DATA + 1)
_Static_assert(MSIX + VIRTIO_MESSAGES_CAP_WORDS <= VPCI_WORDS, "inside of configuration space");

/* --- registers: the caller has the lock ---------------------------------------------------- */

/* While MSI-X is enabled, the ISR status is no interrupt, and has nothing of queues (VIRTIO 1.2,
 * 4.1.4.5.1, 4.1.5.3, 4.1.5.4). */
void virtio_pci_tell(struct virtio_pci *d, uint32_t queue, bool good)
{
	struct notifier *n = &d->function;
	uint32_t from = good ? queue : VIRTIO_CONFIGURATION, before = n->state;
	uint32_t why = from < VIRTIO_CONFIGURATION ? VIRTIO_PCI_ISR_QUEUE : VIRTIO_PCI_ISR_CONFIG;

	if (!good)
		d->virtio.status |= VIRTIO_NEEDS_RESET;
	if (!n->mask) {
		n->state |= why & VIRTIO_PCI_ISR_CONFIG;
		virtio_messages_raise(d, from);
		return;
	}
	n->state |= why;
	if (!before && !(n->pci.header.command & PCI_COMMAND_INTX_DISABLE))
		vm_raise(n->vm, n->source);
}

/* No interrupt comes before DRIVER_OK (VIRTIO 1.2, 2.1.2). */
void virtio_pci_reconfigured(struct virtio_pci *d)
{
	d->virtio.generation++;
	if (virtio_pci_runs(d))
		virtio_pci_tell(d, VIRTIO_CONFIGURATION, true);
}

static uint64_t read_register(struct virtio_pci *d, uint64_t offset, uint32_t width)
{
	uint32_t at = (uint32_t)(offset % PART), value;

	switch (offset / PART) {
	case VIRTIO_PCI_COMMON:
		return virtio_read(&d->virtio, at);
	case VIRTIO_PCI_ISR:
		value = at ? 0 : d->function.state;
		d->function.state &= ~value;
		notifier_update(&d->function);
		return value;
	case VIRTIO_PCI_CONFIG:
		return d->kind->read_config(d, at, width);
	case VIRTIO_PCI_MESSAGES:
		return virtio_messages_read(d, at, width);
	default:
		return 0;
	}
}

void virtio_pci_configure(struct virtio_pci *d, uint32_t offset, uint32_t value)
{
	virtio_write(&d->virtio, offset, value);
	if (!d->virtio.status) {
		d->function.state = d->messages[VIRTIO_PCI_PENDING] = 0;
		notifier_update(&d->function);
	}
	d->kind->changed(d);
}

static void write_register(struct virtio_pci *d, uint64_t offset, uint64_t value, uint32_t width)
{
	uint32_t at = (uint32_t)(offset % PART);

	switch (offset / PART) {
	case VIRTIO_PCI_COMMON:
		/* Registers of its second 16 bytes have 16 bits at most. */
		virtio_pci_configure(d, at, at / 16 == 1 ? (uint16_t)value : (uint32_t)value);
		break;
	case VIRTIO_PCI_NOTIFY:
		if (!(at % VIRTIO_PCI_NOTIFY_STEP))
			d->kind->notify(d, at / VIRTIO_PCI_NOTIFY_STEP);
		break;
	case VIRTIO_PCI_CONFIG:
		d->kind->write_config(d, at, (uint8_t)value);
		break;
	case VIRTIO_PCI_MESSAGES:
		virtio_messages_write(d, at, value, width);
		break;
	default:
		break;
	}
}

/* --- the PCI function ---------------------------------------------------------------------- */

static struct virtio_pci *device_of(const struct vpci_function *f)
{
	return (struct virtio_pci *)((uintptr_t)f - offsetof(struct virtio_pci, function.pci));
}

/* Whether the window is at registers, as the driver must see to. */
static bool is_in_page(const struct virtio_pci *d)
{
	const uint32_t *w = d->window;
	uint32_t size = w[2];

	return !(uint8_t)w[0] && size && size <= 4 && !((size | w[1]) & (size - 1));
}

static uint32_t read_function(const struct vpci_function *f, uint32_t word)
{
	struct virtio_pci *d = device_of(f);

	if (word == WINDOW_DATA)
		return is_in_page(d) ? (uint32_t)read_register(d, d->window[1], d->window[2]) : 0;
	if (word >= WINDOW_BAR && word < WINDOW_DATA)
		return d->window[word - WINDOW_BAR];
	if (word == MSIX)
		return (uint32_t)d->messages_control << 16;
	return notifier_read_function(f, word);
}

static void write_function(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask)
{
	struct virtio_pci *d = device_of(f);

	if (word == WINDOW_DATA && is_in_page(d)) {
		write_register(d, d->window[1], value, d->window[2]);
	} else if (word >= WINDOW_BAR && word < WINDOW_DATA) {
		uint32_t *w = &d->window[word - WINDOW_BAR];

		*w = (*w & ~mask) | value;
	} else {
		/* Enable and mask are in the highest byte. */
		if (word == MSIX && mask >> 24)
			virtio_messages_control(d, value >> 16);
		notifier_write_function(f, word, value, mask);
		d->kind->changed(d);
		virtio_messages_send(d);
	}
}

/* Says where in BAR 0 the parts are (VIRTIO 1.2, 4.1.4). */
static void add_capabilities(struct vpci_function *f)
{
	f->words[PCI_COMMAND / 4] |= (uint32_t)PCI_STATUS_CAPABILITIES << 16;
	f->words[PCI_CAPABILITIES / 4] = PCI_FIRST_CAP;
	for (uint32_t i = 0; i <= VIRTIO_PCI_PARTS; i++) {
		uint32_t *cap = &f->words[CAP(i)], next = i < VIRTIO_PCI_PARTS ? CAP(i + 1) * 4 : 0;

		cap[0] = PCI_CAP_VENDOR | next << 8 | (CAP_WORDS * 4) << 16 | (i + 1) << 24;
		if (i == VIRTIO_PCI_PARTS)
			break;
		cap[2] = i * PART;
		cap[3] = PART;
		if (i == VIRTIO_PCI_NOTIFY)
			cap[4] = VIRTIO_PCI_NOTIFY_STEP;
	}
}

/* Not inlined: it has two callers. */
__attribute__((noinline)) void virtio_pci_begin(struct virtio_pci *d,
                                                const struct virtio_pci_kind *kind)
{
	d->kind = kind;
	d->virtio.offered = kind->features;
	d->virtio.n_queues = kind->n_queues;
	d->virtio.queue_size = kind->queue_size;
}

void virtio_pci_make(struct virtio_pci *d, const struct virtio_pci_kind *kind, uint32_t slot,
                     uint64_t bar)
{
	static const struct vpci_kind function = {read_function, write_function};

	virtio_pci_begin(d, kind);
	notifier_make(&d->function, kind->id, slot);
	vpci_set_bar(&d->function.pci, 0, VIRTIO_PCI_PAGE, bar, 0);
	d->function.pci.kind = &function;
	d->function.pci.words[PCI_CLASS / 4] = kind->class;
	add_capabilities(&d->function.pci);
	if (kind->messages && d->function.vm->config->aia) {
		d->virtio.n_vectors = VIRTIO_PCI_VECTORS;
		/* At the end of the list. */
		d->function.pci.words[WINDOW_BAR - 1] |= MSIX * 4 << 8;
		virtio_messages_add(&d->function.pci.words[MSIX]);
	}
}

void virtio_pci_reset(struct virtio_pci *d, bool alive)
{
	atomic_store_explicit(&d->function.alive, alive, memory_order_relaxed);
	notifier_reset(&d->function, VIRTIO_PCI_ISR_ALL);
	/* What is in a slot always masters the bus. */
	d->function.pci.header.command = d->in_slot ? PCI_COMMAND_MASTER : 0;
	virtio_reset(&d->virtio);
	virtio_messages_reset(d);
	for (uint32_t i = 0; i < ARRAY_SIZE(d->window); i++)
		d->window[i] = 0;
}

/* Not inlined, nor the next one: ports and keys call both. */
__attribute__((noinline)) uint64_t virtio_pci_read(struct virtio_pci *d, uint64_t offset,
                                                   uint32_t width)
{
	struct spinlock *lock = &d->function.vm->devices;
	uint64_t value;

	spin_lock(lock);
	value = read_register(d, offset, width);
	spin_unlock(lock);
	return value;
}

__attribute__((noinline)) void virtio_pci_write(struct virtio_pci *d, uint64_t offset,
                                                uint64_t value, uint32_t width)
{
	struct spinlock *lock = &d->function.vm->devices;

	spin_lock(lock);
	write_register(d, offset, value, width);
	spin_unlock(lock);
}
