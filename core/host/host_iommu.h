/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RISC-V IOMMU in the host's device tree: where its registers are, its wires, and by which ids
 * it knows PCI functions. Pure, like host_tree.h.
 */
#ifndef CORE_HOST_HOST_IOMMU_H
#define CORE_HOST_HOST_IOMMU_H

#include "core/host/host_tree.h"

#define HOST_IOMMU_RANGES 8U
#define HOST_IOMMU_WIRES  4U

struct host_iommu {
	uint64_t base, size;
	/* Its interrupts at the harts' PLIC or APLIC; 0: none, or they cannot be read. */
	uint32_t n_wires;
	struct host_irq wires[HOST_IOMMU_WIRES];
	bool typed_wires; /* they have types, which the controller does not know */
	/* The first host bridge's iommu-map: by which ids the IOMMU knows its functions. */
	uint32_t n_ranges;
	struct {
		uint32_t function, id, length; /* never beyond 2^24 */
	} ranges[HOST_IOMMU_RANGES];
	uint32_t last_id; /* the highest one of all ranges */
	/* Higher than each id that the tree gives to anybody, at whatever IOMMU; 0: there is none.
	 */
	uint32_t nobodys_id;
};

/* Finds the first IOMMU that is not disabled. Returns false if there is none, or its registers
 * are not a page that harts see. */
bool host_iommu_find(const void *tree, struct host_iommu *iommu);

#endif
