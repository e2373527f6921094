/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host's device tree keeps from everybody, below /reserved-memory: the firmware's,
 * or that of a device. Pure, like host_tree.h. */
#ifndef CORE_HOST_HOST_RESERVED_H
#define CORE_HOST_HOST_RESERVED_H

#include "core/host/vm_config.h"

struct host_reserved {
	int node;
	struct vm_range range;
};

/* Whether a range of memory overlaps one that is kept; *found is the first such one of the tree.
 * tree NULL: none is known. */
bool host_reserved_find(const void *tree, uint64_t base, uint64_t size,
                        struct host_reserved *found);

/* Whether one of those that it overlaps has `no-map`, as the firmware's own memory has. */
bool host_reserved_no_map(const void *tree, uint64_t base, uint64_t size);

#endif
