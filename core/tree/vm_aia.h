/* SPDX-License-Identifier: Apache-2.0 */
/* The property `interrupts` of a VM. For the parser only. */
#ifndef CORE_TREE_VM_AIA_H
#define CORE_TREE_VM_AIA_H

#include "core/host/vm_props.h"

/* Sets aia of the VM, whose vcpus are known, and checks that there are guest interrupt files for
 * its vcpus and those of earlier VMs. */
bool vm_parse_interrupts(const struct vm_node *n, const struct vm_prop *prop);

/* Whether a range of guest physical addresses covers one of the VM's interrupt controllers; *chip
 * is the address of the first of them. */
bool vm_covers_chip(const struct vm_config *vm, uint64_t base, uint64_t size, uint64_t *chip);

#endif
