/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that is an operator (docs/operator.md). For the parser only. */
#ifndef CORE_TREE_VM_OPERATOR_H
#define CORE_TREE_VM_OPERATOR_H

#include "core/host/vm_props.h"

/* These properties of a VM node, in the order of VM_OPERATOR_PROP_NAMES. */
enum {
	OPERATOR_ACCESS,
	OPERATOR_VMS,
	OPERATOR_REQUESTS_HZ,
	OPERATOR_INTERRUPT,
	OPERATOR_IDENTITY,
	OPERATOR_SAMPLES_HZ,
	VM_OPERATOR_PROPS
};
#define VM_OPERATOR_PROP_NAMES                                                                     \
	"operator", "operator-vms", "operator-requests-hz", "operator-interrupt",                  \
	    "operator-identity", "operator-samples-hz"

/* Sets n->vm->operator, except its list of VMs; n->vm->aia is known. props has VM_OPERATOR_PROPS
 * entries. */
bool vm_parse_operator(const struct vm_node *n, const struct vm_prop *props);

/* Sets the list of VMs of a VM's node, and does the checks that need all VMs and bells. */
bool vm_check_operator(const struct vm_node *n);

#endif
