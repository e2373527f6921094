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
bool vm_read_us(const struct vm_node *n, const struct vm_prop *prop, uint32_t least, uint32_t most,
                uint32_t *us);

/* Sets turn_us of the tree. turn is the property turn-us of /vms. */
bool vm_parse_turn(const struct vm_node *n, const struct vm_prop *turn);

/* Sets no_look, share and turn_us of the VM; a share of 1 is turn_us of the tree. props has
 * VM_TURN_PROPS entries. The other vcpus on the VM's harts are not known yet:
 * vm_check_exclusive_harts() checks them. */
bool vm_parse_turns(const struct vm_node *n, const struct vm_prop *props);

/* Sets the VM's budget. Its vcpus and its other properties are parsed already. */
bool vm_parse_budget(const struct vm_node *n, const struct vm_prop *prop);

#endif
