/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that is an operator (docs/operator.md). For the parser only. */
#ifndef CORE_TREE_VM_OPERATOR_H
#define CORE_TREE_VM_OPERATOR_H

#include "core/host/vm_props.h"

/* Sets n->vm->operator, except its list of VMs; n->vm->aia is known. */
bool vm_parse_operator(const struct vm_node *n);

/* Sets the list of VMs of a VM's node, and does the checks that need all VMs and bells. */
bool vm_check_operator(const struct vm_node *n);

#endif
