/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The property `machine` of a VM, and the parts of QEMU's machine "virt" that follow from it. Some
 * kernels do not read a device tree but have the addresses of that machine built in.
 */
#ifndef CORE_TREE_VM_MACHINE_H
#define CORE_TREE_VM_MACHINE_H

#include "core/host/vm_props.h"

/* Reads `machine`; `interrupts` has been read before. */
bool vm_parse_machine(const struct vm_node *n, const struct vm_prop *prop);

/* Returns the virtio-mmio slots of the VM in which there is no device of the host: bit n is slot n.
 * 0 without machine = "virt". */
uint32_t vm_empty_slots(const struct vm_config *vm);

/* Returns the source that virt has for a device at this address. 0 if it has none, and without
 * machine = "virt". */
uint32_t vm_machine_irq(const struct vm_config *vm, uint64_t registers);

#endif
