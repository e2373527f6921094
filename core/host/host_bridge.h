/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI host bridge of the host's tree, pci-host-ecam-generic: the addresses of its functions,
 * and the destinations of their interrupts and DMA. Pure, like core/host/host_tree.h. */
#ifndef CORE_HOST_HOST_BRIDGE_H
#define CORE_HOST_HOST_BRIDGE_H

#include "core/host/host_tree.h"

#define BRIDGE_WINDOWS 4U

/* A range of addresses for BARs. */
struct bridge_window {
	uint64_t bus, base, size; /* the address on the bus, and that of the harts */
	bool wide;                /* for BARs of 64 bits */
	bool prefetch;            /* for BARs that can be prefetched */
};

struct host_bridge {
	struct host_place place;
	uint64_t ecam; /* configuration space of the first bus, a page for each function */
	uint32_t bus;  /* the number of that bus */
	uint32_t n_windows;
	struct bridge_window windows[BRIDGE_WINDOWS];
};

/* Finds the first bridge that is not disabled. Returns NULL, or the reason why none can be used. */
const char *host_bridge_find(const void *host, struct host_bridge *bridge);

/* Finds the interrupt of a function's pin (1 to 4). Returns false if it does not go to the harts'
 * controller. */
bool host_bridge_irq(const struct host_bridge *bridge, const struct host_chip *chip, uint32_t bdf,
                     uint32_t pin, struct host_irq *irq);

/* Finds the device_id of a function at its IOMMU, and the IOMMU's node. Returns false if no IOMMU
 * translates for the function. */
bool host_bridge_device_id(const struct host_bridge *bridge, uint32_t bdf, uint32_t *id,
                           int *iommu);

#endif
