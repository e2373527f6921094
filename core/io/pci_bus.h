/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration space of a VM's PCI bus, which has functions of the host and the VM's bells: a row
 * of core/dispatch/mmio.c. */
#ifndef CORE_IO_PCI_BUS_H
#define CORE_IO_PCI_BUS_H

#include "core/vcpu/vm.h"

uint32_t pci_bus_slots(const struct vm *vm);
uint64_t pci_bus_read(struct vm *vm, uint64_t offset, uint32_t width);
void pci_bus_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
