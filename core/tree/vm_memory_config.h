/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM's memory. For the parser only. */
#ifndef CORE_TREE_VM_MEMORY_CONFIG_H
#define CORE_TREE_VM_MEMORY_CONFIG_H

#include "core/host/vm_props.h"

/*
 * Parses memory and memory-at of a VM. The tree has the earlier VMs. Host memory is set only if the
 * VM has chosen it. Returns false after the refusal is filled in.
 */
bool vm_parse_memory(const struct vm_node *n);

/* Refuses a VM whose chosen memory is followed by something in its guard. All VMs are parsed. */
bool vm_check_guards(const struct vm_node *n);

#endif
