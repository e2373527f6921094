/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM's memory. For the parser only. */
#ifndef CORE_TREE_VM_MEMORY_CONFIG_H
#define CORE_TREE_VM_MEMORY_CONFIG_H

#include "core/host/vm_props.h"

/* Indices of these properties, and their names in the same order. */
enum { MEMORY_SIZE, MEMORY_AT, VM_MEMORY_PROPS };
#define VM_MEMORY_PROP_NAMES "memory", "memory-at"

/*
 * Parses these properties of a VM. The tree has the earlier VMs. Host memory is set only if the VM
 * has chosen it. Returns false after the refusal is filled in.
 */
bool vm_parse_memory(const struct vm_node *n, const struct vm_prop *props);

/* Refuses a VM whose chosen memory is followed by something in its guard. All VMs are parsed. */
bool vm_check_guards(const struct vm_node *n);

#endif
