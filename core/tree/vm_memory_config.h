/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM's memory. For the parser only. */
#ifndef CORE_TREE_VM_MEMORY_CONFIG_H
#define CORE_TREE_VM_MEMORY_CONFIG_H

#include "core/host/vm_config.h"
#include "core/host/vm_props.h"

/* Indices of these properties, and their names in the same order. */
enum { MEMORY_SIZE, MEMORY_AT, VM_MEMORY_PROPS };
#define VM_MEMORY_PROP_NAMES "memory", "memory-at"

/*
 * Parses these properties of a VM. The tree has the earlier VMs. Host memory is set only if the VM
 * has chosen it. Returns false after the refusal is filled in.
 */
bool vm_parse_memory(const struct vm_blob *b, int node, const struct vm_prop *props,
                     const struct vm_limits *limits, const struct vm_tree *tree,
                     struct vm_config *vm);

/* Gives host memory to the other VMs, after all are parsed. vms is the node /vms. Returns false
 * after the refusal is filled in. */
bool vm_check_room(const struct vm_blob *b, int vms, const struct vm_limits *limits,
                   struct vm_tree *tree);

/* Refuses memory of `size` bytes, for which the host has no room: `largest` is free in one piece.
 */
bool vm_refuse_room(const struct vm_blob *b, int node, const char *property,
                    const struct vm_limits *limits, uint64_t size, uint64_t largest);

#endif
