/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for the BARs of the VMs' PCI functions: whole pages of their own, in the windows of the
 * host bridge. */
#ifndef CORE_BOOT_PCI_PLACE_H
#define CORE_BOOT_PCI_PLACE_H

#include "arch/riscv/devices/pci.h"
#include "core/host/host_bridge.h"
#include "core/host/vm_config.h"

/* The windows, and the start of the free part of each. */
struct pci_room {
	struct host_bridge bridge;
	uint64_t next[BRIDGE_WINDOWS]; /* the harts' address */
};

void pci_room_init(struct pci_room *room, const struct host_bridge *bridge);

/* Gives each BAR of a function an address, and stores it in the device and the VM. Returns false if
 * there is no room for *bar. */
bool pci_place(struct pci_room *room, struct pci_function *f, struct vm_config *vm,
               struct vm_device *device, uint32_t *bar);

#endif
