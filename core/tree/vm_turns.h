/* SPDX-License-Identifier: Apache-2.0 */
/* The properties for sharing a hart among vcpus: time slices, and the budget of events. For the
 * parser only. */
#ifndef CORE_TREE_VM_TURNS_H
#define CORE_TREE_VM_TURNS_H

#include "core/host/vm_props.h"

/* These properties of a VM node, in the order of VM_TURN_PROP_NAMES. */
enum { TURN_LOOK, TURN_SHARE, VM_TURN_PROPS };
#define VM_TURN_PROP_NAMES "look", "share"

/* Reads a number of microseconds, and refuses one outside these bounds. If the property is not
 * given, *us is not changed. */
bool vm_read_us(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t least,
                uint32_t most, uint32_t *us);

/* Sets tree->turn_us. turn is the property turn-us of /vms. */
bool vm_parse_turn(const struct vm_blob *b, int node, const struct vm_prop *turn,
                   struct vm_tree *tree);

/* Sets no_look, share and turn_us of *vm; a share of 1 is turn_us. props has VM_TURN_PROPS entries.
 * The other vcpus on the VM's harts are not known yet: vm_check_exclusive_harts() checks them. */
bool vm_parse_turns(const struct vm_blob *b, int node, const struct vm_prop *props,
                    uint32_t turn_us, struct vm_config *vm);

/* Sets vm->budget. The VM's vcpus and its other properties are parsed already. */
bool vm_parse_budget(const struct vm_blob *b, int node, const struct vm_prop *prop,
                     const struct vm_limits *limits, const struct vm_tree *tree,
                     struct vm_config *vm);

#endif
