/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/virtio_messages.h"

#include "core/vcpu/vm.h"

#define WRITTEN (PCI_MSIX_ENABLE | PCI_MSIX_MASK) /* of the capability's control */
#define MASKED  1U                                /* of an entry's control */
_Static_assert(VIRTIO_PCI_VECTORS <= 32, "pending bits are in one word");

/* Sends the message of an entry to the vcpu whose interrupt file is at that address for the guest.
 * Elsewhere is nothing that takes messages. */
static void send(const struct virtio_pci *d, const uint32_t entry[VIRTIO_PCI_ENTRY_WORDS])
{
	uint64_t offset = ((uint64_t)entry[1] << 32 | entry[0]) - GUEST_IMSIC_BASE;
	const struct notifier *n = &d->function;

	if (offset % GUEST_IMSIC_STEP == 0 && offset / GUEST_IMSIC_STEP < n->vm->config->n_vcpus)
		notifier_message(n, (uint32_t)(offset / GUEST_IMSIC_STEP), entry[2]);
}

void virtio_messages_send(struct virtio_pci *d)
{
	uint32_t *pending = &d->messages[VIRTIO_PCI_PENDING];

	if ((d->messages_control & WRITTEN) != PCI_MSIX_ENABLE ||
	    !(d->function.pci.header.command & PCI_COMMAND_MASTER))
		return;
	for (uint32_t i = 0; *pending >> i; i++) {
		const uint32_t *entry = &d->messages[i * VIRTIO_PCI_ENTRY_WORDS];

		if (*pending >> i & 1 && !(entry[3] & MASKED)) {
			*pending &= ~(1U << i);
			send(d, entry);
		}
	}
}

void virtio_messages_raise(struct virtio_pci *d, uint32_t from)
{
	const struct virtio *v = &d->virtio;
	uint32_t vector = from < VIRTIO_CONFIGURATION ? v->queues[from].vector : v->config_vector;

	if (vector == VIRTIO_NO_VECTOR)
		return;
	d->messages[VIRTIO_PCI_PENDING] |= 1U << vector;
	virtio_messages_send(d);
}

uint64_t virtio_messages_read(const struct virtio_pci *d, uint32_t at, uint32_t width)
{
	uint64_t value;

	if (width < 4 || at % width || at + width > sizeof(d->messages))
		return 0;
	value = d->messages[at / 4];
	return width == 8 ? value | (uint64_t)d->messages[at / 4 + 1] << 32 : value;
}

/* Of an entry's control only the mask can be written, and of the pending bits none. */
void virtio_messages_write(struct virtio_pci *d, uint32_t at, uint64_t value, uint32_t width)
{
	if (!d->virtio.n_vectors || width < 4 || at % width)
		return;
	for (uint32_t word = at / 4; word < (at + width) / 4 && word < VIRTIO_PCI_PENDING; word++) {
		bool control = word % VIRTIO_PCI_ENTRY_WORDS == 3;

		d->messages[word] = control ? value & MASKED : (uint32_t)value;
		value >>= 32;
	}
	virtio_messages_send(d);
}

void virtio_messages_reset(struct virtio_pci *d)
{
	d->messages_control = 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(d->messages); i++)
		d->messages[i] = d->virtio.n_vectors && i < VIRTIO_PCI_PENDING &&
		                 i % VIRTIO_PCI_ENTRY_WORDS == 3;
}

void virtio_messages_control(struct virtio_pci *d, uint32_t value)
{
	if (!d->virtio.n_vectors)
		return;
	d->messages_control = value & WRITTEN;
	d->function.mask = value & PCI_MSIX_ENABLE ? 0 : VIRTIO_PCI_ISR_ALL;
	notifier_update(&d->function);
}

void virtio_messages_add(uint32_t words[VIRTIO_MESSAGES_CAP_WORDS])
{
	words[0] = PCI_CAP_MSIX | (VIRTIO_PCI_VECTORS - 1) << 16;
	words[1] = VIRTIO_PCI_MESSAGES * VIRTIO_PCI_PART;
	words[2] = words[1] + (uint32_t)VIRTIO_PCI_PENDING * 4;
}
