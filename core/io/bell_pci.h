/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bells as functions of the VM's PCI bus: the registers are BAR 0, the memory is BAR 2, and INTx is
 * the bell's interrupt. The addresses of the BARs are constant, like those of the host's functions
 * (core/io/vpci.h).
 */
#ifndef CORE_IO_BELL_PCI_H
#define CORE_IO_BELL_PCI_H

#include "core/lib/types.h"

struct vm;

/* From QEMU's range for experiments (docs/shared.md). */
#define BELL_PCI_ID 0x10f01af4U

/* Handles an access to the VM's configuration space, at an offset below GUEST_ECAM_SIZE. Returns
 * false if it is not to one of its bells. */
bool bell_pci_access(struct vm *vm, uint32_t offset, bool store, uint64_t *value, uint32_t width);

#endif
