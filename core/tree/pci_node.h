/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI bus in a guest's device tree: its host bridge, with the functions that the VM has, those
 * of its bells among them. */
#ifndef CORE_TREE_PCI_NODE_H
#define CORE_TREE_PCI_NODE_H

#include "core/host/vm_config.h"

/* The VM's interrupt controller, as far as the bus refers to it. */
struct pci_node_chip {
	uint32_t phandle;
	bool typed;   /* its interrupts have a second cell, the type */
	uint32_t msi; /* phandle of where MSIs go; 0: nowhere */
};

/* Whether the VM has a PCI bus. */
bool pci_node_is_there(const struct vm_config *vm);

/* Whether the VM has a bell. */
bool pci_node_has_bells(const struct vm_config *vm);

/* Returns the device number of the function of the n-th shared memory, which has a bell: the
 * highest that nothing else on the VM's bus has. */
uint32_t pci_node_bell_slot(const struct vm_config *vm, uint32_t n);

/* Writes the node into a tree that is being written, below a node with two address cells and two
 * size cells. `shared` is that of the VM tree; NULL if the VM has no bells. Returns 0 or an error
 * of libfdt. */
int pci_node_write(void *fdt, const struct vm_config *vm, const struct vm_shared *shared,
                   const struct pci_node_chip *chip);

#endif
