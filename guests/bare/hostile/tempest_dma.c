/* SPDX-License-Identifier: Apache-2.0 */
/* The storm of a device with DMA: a virtio entropy device of the guest's own, which is reset each
 * time, writes to its memory. (Of one that writes elsewhere Tally turns the DMA off soon: raid.c.)
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/rng.h"

#define DEVFN    8U /* 00:01.0 */
#define BYTES    8U
#define PATIENCE (1000 * MS)

static struct rng rng;
static struct rng_rings rings;
static uint8_t inside[BYTES] __attribute__((aligned(64)));

/* Returns how many answers there were. */
uint64_t tempest_dma(void)
{
	static bool found;
	uint64_t end = csr_read(time) + PATIENCE;

	found = found || rng_find(&rng, pci_page(DEVFN));
	if (!found || !rng_reset(&rng))
		return 0;
	*(volatile uint16_t *)&rings.used.index = 0;
	*(volatile uint16_t *)&rings.available.index = 0;
	rng_start(&rng, (uint64_t)rings.descriptors, (uint64_t)&rings.available,
	          (uint64_t)&rings.used, RNG_NO_VECTOR);
	rng_offer(&rng, &rings, 0, (uint64_t)inside, BYTES);
	while (!rng_used(&rings) && !(rng_status(&rng) & RNG_BROKEN)) {
		if (csr_read(time) >= end)
			return 0;
	}
	return 1;
}
