/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a device of the host for its path in the VM tree, or for the nodes above it. */
#ifndef CORE_HOST_HOST_ABOVE_H
#define CORE_HOST_HOST_ABOVE_H

#include "core/host/host_tree.h"
#include "core/host/vm_props.h"

/* `path` is the device's path in the VM tree, and `place` the node that it leads to. Returns false
 * if it is refused. */
bool host_above_check(const struct vm_blob *b, int node, const struct host_place *place,
                      const char *path);

/* Whether the node's interrupts can be read, and have a controller as their destination. */
bool host_above_interrupts(const struct vm_blob *b, int node, const struct host_place *place);

#endif
