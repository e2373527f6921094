/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the host memory of each VM, and its guest addresses. Tally at boot and tools/vm-check
 * share this code.
 */
#ifndef CORE_TREE_VM_MEMORY_H
#define CORE_TREE_VM_MEMORY_H

#include "core/host/vm_props.h"

/* A range of guest memory that lies in one range of host memory. Multiples of VM_MEMORY_STEP. */
struct vm_piece {
	uint64_t guest, host, size;
};

/* Returns the piece with this number; their addresses ascend. size is 0 if there are fewer. */
struct vm_piece vm_piece(const struct vm_config *vm, uint32_t number);

/* Returns a piece that has some of these guest physical addresses; its size is 0 if there is none.
 */
struct vm_piece vm_piece_at(const struct vm_config *vm, uint64_t base, uint64_t size);

/* Returns a device that has registers at some of these guest physical addresses, NULL if there is
 * none. *at is the beginning of these registers. */
const struct vm_device *vm_device_at(const struct vm_config *vm, uint64_t base, uint64_t size,
                                     uint64_t *at);

/*
 * Returns how many bytes after each piece of a VM's memory must belong to no VM. A VM with PCI
 * functions needs some: QEMU (10.0) translates only the first byte of an access of virtio to a ring
 * by the IOMMU, and continues past the end of the page without translation.
 */
uint64_t vm_guard(const struct vm_config *vm);

/*
 * Gives host memory to the VMs that have not chosen theirs, one after the other: the lowest free
 * range that holds all of it in one piece and that the host's tree does not reserve. vms is the
 * node /vms. Returns false after the refusal of a VM for which there is none.
 */
bool vm_place_memory(const struct vm_node *vms);

/* Returns the host memory that shared memory takes, in bytes: whole steps. */
uint64_t vm_shared_room(const struct vm_shared *shared);

/* The same for shared memory, after vm_place_memory(). n is the node /shared. */
bool vm_place_shared(const struct vm_node *n);

/* Returns the size of the largest VM that fits beside all of the tree, in bytes. After
 * vm_place_shared(). */
uint64_t vm_largest_free(const struct vm_tree *tree, const struct vm_limits *limits);

/* The use of a bank of RAM, after all memory is placed. A VM may be in several banks. */
struct vm_bank_use {
	bool tally;
	uint32_t vms, shared;
	uint64_t free; /* bytes that VMs could have */
};

struct vm_bank_use vm_bank_use(const struct vm_tree *tree, const struct vm_limits *limits,
                               const struct vm_range *bank);

#endif
