/* SPDX-License-Identifier: Apache-2.0 */
/* A virtio entropy device on the guest's PCI bus. It writes to memory where it is told to. */
#ifndef GUESTS_RNG_H
#define GUESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

#define PCI_ECAM         0x30000000UL
#define PCI_COMMAND      0x04U
#define PCI_BAR          0x10U
#define PCI_CAPABILITIES 0x34U
#define PCI_MEMORY       2U
#define PCI_MASTER       4U
#define PCI_CAP_MSIX     0x11U
#define PCI_CAPS_MAX     48U

#define RNG_QUEUE     8U
#define RNG_NO_VECTOR 0xffffU
#define RNG_WRITABLE  2U
#define RNG_BROKEN    0x40U /* of its status: it needs a reset */

static inline uint32_t in32(uint64_t at)
{
	return *(volatile uint32_t *)at;
}

static inline uint16_t in16(uint64_t at)
{
	return *(volatile uint16_t *)at;
}

static inline uint8_t in8(uint64_t at)
{
	return *(volatile uint8_t *)at;
}

static inline void out32(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

static inline void out16(uint64_t at, uint16_t value)
{
	*(volatile uint16_t *)at = value;
}

static inline void out8(uint64_t at, uint8_t value)
{
	*(volatile uint8_t *)at = value;
}

static inline void out64(uint64_t at, uint64_t value)
{
	out32(at, (uint32_t)value);
	out32(at + 4, (uint32_t)(value >> 32));
}

/* Configuration space of a function, by its device * 8 + number. */
static inline uint64_t pci_page(uint32_t devfn)
{
	return PCI_ECAM + ((uint64_t)devfn << 12);
}

uint64_t pci_bar(uint64_t page, uint32_t n);

/* Returns where a capability is, in configuration space. 0: there is none. */
uint32_t pci_capability(uint64_t page, uint32_t id);

/* Returns where a function's table of messages is. 0: it has none. *vectors: how many. */
uint64_t pci_messages(uint64_t page, uint32_t *vectors);

struct rng_rings {
	struct {
		uint64_t address;
		uint32_t length;
		uint16_t flags, next;
	} descriptors[RNG_QUEUE];
	struct {
		uint16_t flags, index, ring[RNG_QUEUE], event;
	} available __attribute__((aligned(4)));
	struct {
		uint16_t flags, index;
		struct {
			uint32_t id, length;
		} ring[RNG_QUEUE];
		uint16_t event;
	} used __attribute__((aligned(4)));
} __attribute__((aligned(16)));

struct rng {
	uint64_t common, notify, isr;
	uint32_t multiplier;
	uint32_t offers; /* bits 32 to 63 of its features */
};

/* Finds its registers, turns memory and bus mastering on. Returns false if it is none. */
bool rng_find(struct rng *r, uint64_t page);

uint8_t rng_status(const struct rng *r);

/* Sets status 0, then agrees upon features. Returns false if it does not answer. */
bool rng_reset(struct rng *r);

/* Its queue is there, then all else follows. Addresses may be anything. */
void rng_start(struct rng *r, uint64_t descriptors, uint64_t available, uint64_t used,
               uint32_t vector);

/* Offers a buffer, the n-th one, and tells the device. */
void rng_offer(const struct rng *r, struct rng_rings *rings, uint32_t n, uint64_t address,
               uint32_t length);

/* How many buffers have come back, modulo 2^16. */
static inline uint16_t rng_used(const struct rng_rings *rings)
{
	return *(const volatile uint16_t *)&rings->used.index;
}

#endif
