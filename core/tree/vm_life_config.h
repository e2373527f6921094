/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that concern its end and its next life. For the parser only. */
#ifndef CORE_TREE_VM_LIFE_CONFIG_H
#define CORE_TREE_VM_LIFE_CONFIG_H

#include "core/host/vm_props.h"

/* Sets the members of the VM for these properties, except controls. */
bool vm_parse_life(const struct vm_node *n);

/* Refuses a tree in which boot starts no VM. vms is the node /vms. */
bool vm_check_started(const struct vm_node *vms);

/* Sets controls of a VM; the names of all are known. */
bool vm_parse_controls(const struct vm_node *n);

#endif
