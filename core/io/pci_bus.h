/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration space of a VM's PCI bus: a row of core/dispatch/mmio.c. The bus has functions of
 * the host (core/io/functions.h) and the VM's bells. In the function of a bell the registers are
 * BAR 0, the memory is BAR 2, and INTx is the bell's interrupt. The addresses of the BARs are
 * constant, like those of the host's functions (core/io/vpci.h).
 */
#ifndef CORE_IO_PCI_BUS_H
#define CORE_IO_PCI_BUS_H

#include "core/vcpu/vm.h"

uint64_t pci_bus_read(struct vm *vm, uint64_t offset, uint32_t width);
void pci_bus_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
