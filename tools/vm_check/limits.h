/* SPDX-License-Identifier: Apache-2.0 */
/* What a VM tree is checked against. */
#ifndef TOOLS_VM_CHECK_LIMITS_H
#define TOOLS_VM_CHECK_LIMITS_H

#include "core/host/vm_config.h"
#include "tools/vm_check/options.h"

/* Returns what the machine has. *tree_at becomes the place of the VM tree, of tree_size bytes.
 * Exits if the host's tree cannot be used. */
struct vm_limits limits_of(const struct options *o, size_t tree_size, struct vm_range *tree_at);

#endif
