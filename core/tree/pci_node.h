/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI bus in a guest's device tree: its host bridge, and the VM's functions, which include its
 * bells, its power key and its ports. */
#ifndef CORE_TREE_PCI_NODE_H
#define CORE_TREE_PCI_NODE_H

#include "core/host/vm_config.h"
#include "core/tree/dt_writer.h"

/* Properties of the VM's interrupt controller to which the bus refers. */
struct pci_node_chip {
	uint32_t phandle;
	bool typed;   /* its interrupts have a second cell, the type */
	uint32_t msi; /* phandle of the destination of MSIs; 0 if there is none */
};

/* Whether the VM has a PCI bus. */
bool pci_node_is_there(const struct vm_config *vm);

/* Returns the device number of the bell of the VM's n-th shared memory, which must have a bell; n =
 * n_shared: that of the operator's function; n_shared + 1: that of the power key; from
 * n_shared + 2 on: those of the ports. They get the highest device numbers that no function of the
 * VM has, in descending order. */
uint32_t pci_node_slot(const struct vm_config *vm, uint32_t n);

/* Writes the node into a tree that is being written, below a node with two address cells and two
 * size cells. `shared` is the list of shared memories of the VM tree; NULL if the VM has no bells.
 */
void pci_node_write(struct dt_writer *w, const struct vm_config *vm, const struct vm_shared *shared,
                    const struct pci_node_chip *chip);

#endif
