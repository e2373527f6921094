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
 * Finds the banks of RAM: ranges of memory nodes that touch are one. If there are more than
 * VM_MAX_BANKS, the last ones in the tree are not used. Tally's own memory (tally) is at the start
 * of the bank with the image, or, if the image lies high in it, at the image. RAM before it is then
 * used only if the tree reserves its start, or some of it with no-map: otherwise the firmware is
 * somewhere in it, at an unknown place. Returns false if no bank has the whole image.
 */
bool host_memory_find(const void *tree, struct vm_range image, struct vm_ram *ram);

/* Returns false if Tally or its tables overlap reserved memory; *found is that memory. The memory
 * of VMs goes around reserved memory (vm_place_memory()). */
bool host_memory_keep(const void *tree, struct vm_range image, const struct vm_ram *ram,
                      struct host_reserved *found);

#define HOST_MEMORY_UNUSED "is in RAM that Tally does not use"

/* Returns why the VM tree cannot stay at *blob, in words that follow its address, or NULL if it
 * can. `guests` is how vm_guest_ranges() divides `ram`. */
const char *host_memory_misplaced(const void *tree, const struct vm_ram *ram,
                                  const struct vm_guests *guests, const struct vm_range *blob);

#endif
