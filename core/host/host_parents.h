/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a device of the host: its path in the VM tree, the nodes above it, and its interrupts. */
#ifndef CORE_HOST_HOST_PARENTS_H
#define CORE_HOST_HOST_PARENTS_H

#include "core/host/host_tree.h"
#include "core/host/vm_props.h"

/* Refuses a device that is reserved memory, is below a disabled node or on a PCI bus, or is named
 * ambiguously. `path` is its path in the VM tree, `place` the node there. Returns false if it
 * refuses the device. */
bool host_parents_check(const struct vm_node *n, const struct host_place *place, const char *path);

/* Refuses a device if its list of interrupts is malformed, or no interrupt controller is named for
 * them. Returns false if it refuses the device. */
bool host_parents_have_irqs(const struct vm_node *n, const struct host_place *place);

#endif
