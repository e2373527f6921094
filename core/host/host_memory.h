/* SPDX-License-Identifier: Apache-2.0 */
/* The RAM of the host's tree that Tally uses. Pure, like host_tree.h. */
#ifndef CORE_HOST_HOST_MEMORY_H
#define CORE_HOST_HOST_MEMORY_H

#include "core/host/host_reserved.h"
#include "core/host/vm_config.h"
#include "core/lib/types.h"

/* The largest host tree that boot copies: far more than any board has. */
#define HOST_TREE_MAX MIB(1)

/* All ranges of the memory nodes that are not disabled, in the order of the tree. */
struct host_memory_walk {
	const void *tree;
	int node;
	uint32_t index;
};

struct host_memory_walk host_memory_walk(const void *tree);

/* Goes to the next range, which is not empty. Returns false if there is none. */
bool host_memory_next(struct host_memory_walk *walk, struct vm_range *range);

/*
 * Finds the banks of RAM: ranges of memory nodes that touch are one. Of more than VM_MAX_BANKS
 * banks, those that come last in the tree are not used. What Tally keeps (tally) is at the start of
 * the bank with the image, or, if the image lies high in it, at the image; RAM before it is then
 * used only if the tree keeps its start, or some of it by no-map: otherwise the firmware, which
 * is there, does not say where. Returns false if no bank has the whole image.
 */
bool host_memory_find(const void *tree, struct vm_range image, struct vm_ram *ram);

/*
 * Ends the bank with the VM tree before what the host's tree keeps, if the VM tree, or the copy of
 * the host's tree that boot makes before it, would lie there. The memory of VMs goes around it
 * (vm_place_memory()). Returns false if Tally or its tables lie there; *found is that.
 */
bool host_memory_keep(const void *tree, struct vm_range image, uint64_t tree_size,
                      struct vm_ram *ram, struct host_reserved *found);

/* Tells the name of each memory node, and of each node below /reserved-memory, whose reg cannot be
 * read to its end: some memory in it is neither used nor kept. */
void host_memory_broken(const void *tree, void (*tell)(const char *name));

/* In words, behind such a name: of boot and of tools/vm-check. */
#define HOST_MEMORY_BROKEN "reg has cells that are no address and size"

#endif
