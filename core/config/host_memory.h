/* SPDX-License-Identifier: Apache-2.0 */
/* Which RAM of the host's tree Tally uses. Pure, like host_tree.h. */
#ifndef CORE_CONFIG_HOST_MEMORY_H
#define CORE_CONFIG_HOST_MEMORY_H

#include "core/config/host_reserved.h"
#include "core/config/vm_config.h"
#include "core/lib/types.h"

/* The largest host tree that boot copies: far more than any board has. */
#define HOST_TREE_MAX MIB(1)

/*
 * The range of a memory node that holds Tally's image, with the ranges that go on where it ends. It
 * begins beside the image if that lies high in it, so that the memory which vm_guest_range() leaves
 * for tables is behind the image. Returns false if there is none.
 */
bool host_memory_find(const void *tree, struct vm_range image, struct vm_range *ram);

/* Returns the bytes of all memory nodes. */
uint64_t host_memory_sum(const void *tree);

/*
 * Ends the RAM before what the host's tree keeps, if a VM tree at its end, or the copy of the
 * host's tree that boot makes before that, would lie there. The memory of VMs goes around it
 * (vm_place_memory()). Returns false if Tally or its tables lie there; *found is that.
 */
bool host_memory_keep(const void *tree, struct vm_range image, uint64_t tree_size,
                      struct vm_range *ram, struct host_reserved *found);

#endif
