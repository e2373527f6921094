/* SPDX-License-Identifier: Apache-2.0 */
/* Names of nodes, and properties that name VMs. For the parser only. A function that refuses
 * something fills in the refusal and returns false. */
#ifndef CORE_TREE_VM_NAMES_H
#define CORE_TREE_VM_NAMES_H

#include "core/host/vm_props.h"

/* Whether the name has 1 to `most` characters of a-z, 0-9 and -. */
bool vm_is_name(const char *name, uint32_t most);

/* Refuses the node if its name is not such a name. `of` is the named thing: "a VM". */
bool vm_check_name(const struct vm_node *n, const char *of, uint32_t most);

/* Returns the index of the VM with this name; tree->n_vms: there is none. */
uint32_t vm_named(const struct vm_tree *tree, const char *name);

/* The same for a name in a property, which is refused if there is none. */
bool vm_find_named(const struct vm_node *n, const char *property, const char *name, uint32_t *vm);

/* Reads a list of names of VMs; bit n of *named is VM n. Refuses unknown names, and one that comes
 * twice. Does nothing if the property is not given. */
bool vm_read_names(const struct vm_node *n, const struct vm_prop *prop, uint32_t *named);

/* Calls parse for each child of a node that has no properties, until it returns false. Returns
 * false if a call did. */
bool vm_parse_children(const struct vm_node *n, bool (*parse)(const struct vm_node *child));

/* Calls check for the node of each VM, with its place in n->tree as n->vm, until it returns false.
 * `vms` is their parent. Returns false if a call did. */
bool vm_each(const struct vm_node *vms, bool (*check)(const struct vm_node *n));

#endif
