/* SPDX-License-Identifier: Apache-2.0 */
/* The node `devices` of a VM. For the parser only. */
#ifndef CORE_TREE_VM_DEVICES_H
#define CORE_TREE_VM_DEVICES_H

#include "core/host/vm_props.h"

/* Whether a child of a VM's node is the node `devices`. */
bool vm_is_devices(const struct vm_node *child);

/*
 * Reads the devices of a VM, whose other properties are read already, and checks them against the
 * host's tree, if there is one, and against earlier VMs. n is the VM's node.
 */
bool vm_parse_devices(const struct vm_node *n);

/* Returns a device that has this source of the VM's own interrupt controller, or NULL. */
const struct vm_device *vm_device_of_irq(const struct vm_config *vm, uint32_t number);

#endif
