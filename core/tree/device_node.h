/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's node in the guest's device tree, made from its node in the host's. Refuses properties
 * that refer to things that the guest does not have.
 */
#ifndef CORE_TREE_DEVICE_NODE_H
#define CORE_TREE_DEVICE_NODE_H

#include "core/host/vm_props.h"
#include "core/tree/dt_writer.h"

/* Bytes for the nodes of all devices of a VM, part of the VM_DTB_SIZE bytes of its tree. */
#define DEVICE_NODES_BYTES 0x4000U
#define DEVICE_CLOCKS      4U /* of a device */

/*
 * Refuses a node that device_node_write() cannot write; n is the device's in the VM tree. Adds an
 * upper bound of the node's size to *bytes.
 */
bool device_node_check(const struct vm_node *n, const struct vm_device *device, uint32_t *bytes);

/* The VM's interrupt controller. */
struct device_chip {
	uint32_t phandle;
	bool types; /* its interrupts have a second cell, their type: an APLIC */
};

/*
 * Writes the node of a checked device into a tree that is being written, below a node with two
 * address cells and two size cells, and nodes of its clocks beside it. The clocks get the phandles
 * from `clocks` upwards, less than DEVICE_CLOCKS.
 */
void device_node_write(struct dt_writer *w, const void *host, const struct vm_device *device,
                       const struct device_chip *chip, uint32_t clocks);

/* The type of an interrupt in a device tree, for each enum vm_irq_mode. */
extern const uint8_t device_irq_types[];

/* Returns the path of a node of the host, or its name if the path is too long. A negative node is
 * one that is not there. */
const char *device_path(const void *host, int node, char *buffer, int size);

#endif
