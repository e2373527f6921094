/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RISC-V IOMMU in the host's device tree: its registers, its wires, and the device_ids of PCI
 * functions. Pure, like host_tree.h.
 */
#ifndef CORE_HOST_HOST_IOMMU_H
#define CORE_HOST_HOST_IOMMU_H

#include "core/host/host_tree.h"

#define HOST_IOMMU_RANGES 8U
#define HOST_IOMMU_WIRES  4U

struct host_iommu {
	uint64_t base, size;
	/* Its interrupts at the harts' PLIC or APLIC; 0 if it has none, or if they cannot be
	 * read. */
	uint32_t n_wires;
	struct host_irq wires[HOST_IOMMU_WIRES];
	bool typed_wires; /* they have types, which the controller does not know */
	/* The first host bridge's iommu-map, from functions to device_ids. */
	uint32_t n_ranges;
	struct {
		uint32_t function, id, length; /* never beyond 2^24 */
	} ranges[HOST_IOMMU_RANGES];
	uint32_t last_id; /* the highest one of all ranges */
	/* An id above all that the tree assigns at any IOMMU; 0 if there is none. */
	uint32_t unused_id;
};

/* Finds the first IOMMU that is not disabled. Returns false if there is none, or if its registers
 * are not a page that harts can access. */
bool host_iommu_find(const void *tree, struct host_iommu *iommu);

#endif
