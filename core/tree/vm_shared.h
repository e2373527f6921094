/* SPDX-License-Identifier: Apache-2.0 */
/* The node /shared: memory shared by several VMs. For the parser only. */
#ifndef CORE_TREE_VM_SHARED_H
#define CORE_TREE_VM_SHARED_H

#include "core/host/vm_config.h"
#include "core/host/vm_props.h"

/* Parses the node, after all VMs are parsed. Host memory is not chosen yet. Returns false after the
 * refusal is filled in. */
bool vm_parse_shared(const struct vm_blob *b, int node, const struct vm_limits *limits,
                     struct vm_tree *tree);

/* Gives host memory to all shared memory, after the VMs have theirs. Returns false after the
 * refusal is filled in. */
bool vm_check_shared_room(const struct vm_blob *b, int node, const struct vm_limits *limits,
                          struct vm_tree *tree);

#endif
