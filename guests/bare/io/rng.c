/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/bare/io/rng.h"

#include <stddef.h>

/* Capabilities of virtio: what is in which BAR. */
#define CAP_VENDOR 9U
enum { COMMON = 1, NOTIFY, ISR };

/* Of the common registers. */
#define SELECT        0U
#define FEATURES      4U
#define ACCEPT_SELECT 8U
#define ACCEPT        12U
#define STATUS        20U
#define QUEUE_SELECT  22U
#define QUEUE_SIZE    24U
#define QUEUE_VECTOR  26U
#define QUEUE_ENABLE  28U
#define QUEUE_NOTIFY  30U
#define QUEUE_TABLE   32U
#define QUEUE_DRIVER  40U
#define QUEUE_DEVICE  48U

#define DRIVER      3U
#define FEATURES_OK 11U
#define DRIVER_OK   15U
#define ACCEPTED    3U /* VERSION_1, ACCESS_PLATFORM */

uint64_t pci_bar(uint64_t page, uint32_t n)
{
	uint64_t at = page + PCI_BAR + 4UL * n;

	return (in32(at) & 4 ? (uint64_t)in32(at + 4) << 32 : 0) | (in32(at) & ~15U);
}

uint32_t pci_capability(uint64_t page, uint32_t id)
{
	uint32_t at = in8(page + PCI_CAPABILITIES);

	for (uint32_t i = 0; at && i < PCI_CAPS_MAX && in8(page + at) != id; i++)
		at = in8(page + at + 1);
	return at;
}

uint64_t pci_messages(uint64_t page, uint32_t *vectors)
{
	uint32_t at = pci_capability(page, PCI_CAP_MSIX);

	if (!at)
		return 0;
	*vectors = (in16(page + at + 2) & 0x7ffU) + 1;
	return pci_bar(page, in32(page + at + 4) & 7) + (in32(page + at + 4) & ~7U);
}

/* Returns where the registers of one kind are. */
static uint64_t registers(uint64_t page, uint32_t kind, uint32_t *multiplier)
{
	uint32_t at = in8(page + PCI_CAPABILITIES);

	for (uint32_t i = 0; at && i < PCI_CAPS_MAX; i++, at = in8(page + at + 1)) {
		if (in8(page + at) != CAP_VENDOR || in8(page + at + 3) != kind)
			continue;
		if (multiplier)
			*multiplier = in32(page + at + 16);
		return pci_bar(page, in8(page + at + 4)) + in32(page + at + 8);
	}
	return 0;
}

bool rng_find(struct rng *r, uint64_t page)
{
	r->common = registers(page, COMMON, NULL);
	r->notify = registers(page, NOTIFY, &r->multiplier);
	r->isr = registers(page, ISR, NULL);
	out16(page + PCI_COMMAND, PCI_MEMORY | PCI_MASTER);
	return r->common && r->notify && r->isr;
}

uint8_t rng_status(const struct rng *r)
{
	return in8(r->common + STATUS);
}

bool rng_reset(struct rng *r)
{
	out8(r->common + STATUS, 0);
	while (rng_status(r))
		;
	out8(r->common + STATUS, DRIVER);
	out32(r->common + SELECT, 1);
	r->offers = in32(r->common + FEATURES);
	out32(r->common + ACCEPT_SELECT, 1);
	out32(r->common + ACCEPT, ACCEPTED & r->offers);
	out32(r->common + ACCEPT_SELECT, 0);
	out32(r->common + ACCEPT, 0);
	out8(r->common + STATUS, FEATURES_OK);
	return rng_status(r) == FEATURES_OK;
}

void rng_start(struct rng *r, uint64_t descriptors, uint64_t available, uint64_t used,
               uint32_t vector)
{
	out16(r->common + QUEUE_SELECT, 0);
	out16(r->common + QUEUE_VECTOR, (uint16_t)vector);
	out16(r->common + QUEUE_SIZE, RNG_QUEUE);
	out64(r->common + QUEUE_TABLE, descriptors);
	out64(r->common + QUEUE_DRIVER, available);
	out64(r->common + QUEUE_DEVICE, used);
	out16(r->common + QUEUE_ENABLE, 1);
	out8(r->common + STATUS, DRIVER_OK);
}

void rng_offer(const struct rng *r, struct rng_rings *rings, uint32_t n, uint64_t address,
               uint32_t length)
{
	uint32_t slot = n % RNG_QUEUE;

	rings->descriptors[slot].address = address;
	rings->descriptors[slot].length = length;
	rings->descriptors[slot].flags = RNG_WRITABLE;
	rings->available.ring[slot] = (uint16_t)slot;
	__asm__ volatile("fence" ::: "memory");
	*(volatile uint16_t *)&rings->available.index = (uint16_t)(n + 1);
	__asm__ volatile("fence" ::: "memory");
	out16(r->notify + (uint64_t)r->multiplier * in16(r->common + QUEUE_NOTIFY), 0);
}
