/* SPDX-License-Identifier: Apache-2.0 */
/* PCI functions in the node `devices` of a VM: the checks that need no access to the bus. For the
 * parser only. */
#ifndef CORE_TREE_VM_FUNCTIONS_H
#define CORE_TREE_VM_FUNCTIONS_H

#include "core/host/vm_props.h"

/* Reads the name of a function, "BB:DD.F" or "VVVV:DDDD", and `force`. Refuses values of `dma` that
 * no function can have, and a function that acts on the machine (pci_acts.h). */
bool vm_function_parse(const struct vm_node *n, const struct vm_prop *pci,
                       const struct vm_prop *force, struct vm_device *device);

/* Whether two devices name the same function in the same words. */
bool vm_function_is_same(const struct vm_device *a, const struct vm_device *b);

/* Refuses a function that this host cannot isolate, and a function of a VM that has something else
 * at the addresses of its PCI bus. All devices of the VM are known. The host's tree may be NULL. */
bool vm_function_check(const struct vm_node *n, const struct vm_device *device);

#endif
