/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of properties of a VM, each in a file of its own. For the parser only. A function that
 * refuses something fills in the refusal and returns false.
 */
#ifndef CORE_TREE_VM_GROUPS_H
#define CORE_TREE_VM_GROUPS_H

#include "core/host/vm_props.h"

/* vm_life_config.c: the end of a VM, and its next life */

/* Sets the members of the VM for these properties, except controls. */
bool vm_parse_life(const struct vm_node *n);

/* Refuses a tree in which boot starts no VM. vms is the node /vms. */
bool vm_check_started(const struct vm_node *vms);

/* Sets controls of a VM; the names of all are known. */
bool vm_parse_controls(const struct vm_node *n);

/* vm_turns.c: time slices of vcpus that share a hart, and their budget of events */

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

/* vm_aia.c: the property `interrupts` */

/* Sets aia of the VM, whose vcpus are known, and checks that there are guest interrupt files for
 * its vcpus and those of earlier VMs. */
bool vm_parse_interrupts(const struct vm_node *n);

/* Whether a range of guest physical addresses covers one of the VM's interrupt controllers; *chip
 * is the address of the first of them. */
bool vm_covers_chip(const struct vm_config *vm, uint64_t base, uint64_t size, uint64_t *chip);

/* vm_operator.c: an operator (docs/operator.md) */

/* Sets n->vm->operator, except its list of VMs; n->vm->aia is known. */
bool vm_parse_operator(const struct vm_node *n);

/* Sets the list of VMs of a VM's node, and does the checks that need all VMs and bells. */
bool vm_check_operator(const struct vm_node *n);

/* vm_pmu_config.c: the PMU */

/* Sets the pmu members of the VM, which are zero. */
bool vm_parse_pmu(const struct vm_node *n);

/* Refuses a VM that shares its harts and has a property that needs exclusive harts. All VMs of the
 * tree are parsed. */
bool vm_check_exclusive_harts(const struct vm_node *n);

/* vm_memory_config.c: memory */

/*
 * Parses memory and memory-at of a VM. The tree has the earlier VMs. Host memory is set only if the
 * VM has chosen it. Returns false after the refusal is filled in.
 */
bool vm_parse_memory(const struct vm_node *n);

/* Refuses a VM whose chosen memory is followed by something in its guard. All VMs are parsed. */
bool vm_check_guards(const struct vm_node *n);

/* vm_layout.c: the addresses of kernel, initrd and device tree in a VM's RAM */

/*
 * On entry first_size, n_pieces, kernel, initrd and, if load-offset is given, kernel_offset of the
 * VM are set. Sets kernel_is_image, kernel_span and the other offsets. Returns false after the
 * refusal is filled in.
 */
bool vm_layout(const struct vm_node *n);

#endif
