/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host's device tree reserves, below /reserved-memory, for the firmware or for a
 * device. Pure, like host_tree.h. */
#ifndef CORE_HOST_HOST_RESERVED_H
#define CORE_HOST_HOST_RESERVED_H

#include "core/host/vm_config.h"

struct host_reserved {
	int node;
	struct vm_range range;
};

/* Whether a range overlaps reserved memory; *found is the first such range of the tree. If tree is
 * NULL, no memory is reserved. */
bool host_reserved_find(const void *tree, uint64_t base, uint64_t size,
                        struct host_reserved *found);

/* Whether a reserved range that it overlaps has `no-map`, as the firmware's own memory has. */
bool host_reserved_no_map(const void *tree, uint64_t base, uint64_t size);

#endif
