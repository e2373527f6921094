/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory of the host a VM has, and where the VM sees it. Tally at boot and tools/vm-check
 * decide it here.
 */
#ifndef CORE_TREE_VM_MEMORY_H
#define CORE_TREE_VM_MEMORY_H

#include "core/host/vm_config.h"

/* A range of guest memory that lies in one range of host memory. Multiples of VM_MEMORY_STEP. */
struct vm_piece {
	uint64_t guest, host, size;
};

/* Returns the piece with this number; their addresses ascend. size 0: there are not so many. */
struct vm_piece vm_piece(const struct vm_config *vm, uint32_t number);

/*
 * Returns how many bytes behind each piece of a VM's memory have to be nobody's. A VM with PCI
 * functions needs some: QEMU (10.0) asks the IOMMU for the first byte of an access of virtio to a
 * ring, and goes on behind the page without asking.
 */
uint64_t vm_guard(const struct vm_config *vm);

/*
 * Gives host memory to the VMs that have not chosen theirs, one after the other: the lowest that is
 * left, is not kept by the host's tree, and holds all of it in one piece. Returns false if there is
 * none for the VM *which; the largest piece that is left has *largest bytes.
 */
bool vm_place_memory(struct vm_tree *tree, const struct vm_limits *limits, uint32_t *which,
                     uint64_t *largest);

/* Returns how many bytes of the host's memory it takes: whole steps. */
uint64_t vm_shared_room(const struct vm_shared *shared);

/* The same for shared memory, when all VMs have theirs; *which is its number. */
bool vm_place_shared(struct vm_tree *tree, const struct vm_limits *limits, uint32_t *which,
                     uint64_t *largest);

/* What lies in a bank of RAM, when all have theirs. A VM may lie in several. */
struct vm_bank_use {
	bool tally;
	uint32_t vms, shared;
	uint64_t free; /* bytes that VMs could have */
};

struct vm_bank_use vm_bank_use(const struct vm_tree *tree, const struct vm_limits *limits,
                               const struct vm_range *bank);

#endif
