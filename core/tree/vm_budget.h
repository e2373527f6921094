/* SPDX-License-Identifier: Apache-2.0 */
/* The property budget of a VM. For the parser only. */
#ifndef CORE_TREE_VM_BUDGET_H
#define CORE_TREE_VM_BUDGET_H

#include "core/host/vm_props.h"

/* Sets vm->budget. The VM's vcpus and its other properties are parsed already. */
bool vm_parse_budget(const struct vm_blob *b, int node, const struct vm_prop *prop,
                     const struct vm_limits *limits, const struct vm_tree *tree,
                     struct vm_config *vm);

#endif
