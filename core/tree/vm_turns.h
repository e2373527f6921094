/* SPDX-License-Identifier: Apache-2.0 */
/* The properties for sharing a hart among vcpus: time slices, and the budget of events. For the
 * parser only. */
#ifndef CORE_TREE_VM_TURNS_H
#define CORE_TREE_VM_TURNS_H

#include "core/host/vm_props.h"

/* Reads a number of microseconds, and refuses one outside these bounds. If the property is not
 * given, *us is not changed. */
bool vm_read_us(const struct vm_node *n, const char *name, uint32_t least, uint32_t most,
                uint32_t *us);

/* Sets turn_us of the tree. n is the node /vms. */
bool vm_parse_turn(const struct vm_node *n);

/* Sets no_look, share and turn_us of the VM; a share of 1 is turn_us of the tree. The other vcpus
 * on the VM's harts are not known yet: vm_check_exclusive_harts() checks them. */
bool vm_parse_turns(const struct vm_node *n);

/* Sets the VM's budget. Its vcpus and its other properties are parsed already. */
bool vm_parse_budget(const struct vm_node *n);

#endif
