/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration space that a guest sees: one bus with the functions that its VM has, at their
 * own device and function numbers. Nothing answers elsewhere: reads are all ones.
 *
 * What a guest reads was taken at boot, but for the status register. Of what it writes, the
 * function gets bus mastering, INTx Disable, errors to clear in the status, and of a MSI-X that it
 * sees, enable and mask. A BAR keeps its place; all ones written to it ask for its size, as ever.
 * The function decodes memory all the time: only the guest sees that bit change.
 */
#ifndef CORE_IO_VPCI_H
#define CORE_IO_VPCI_H

#include "arch/riscv/devices/pci.h"
#include "core/host/vm_config.h"
#include "core/vcpu/vpci_state.h"

/* Makes what the guest sees of a function whose BARs have their places. */
void vpci_init(struct vpci_function *f, const struct pci_function *host, bool intx, bool msix);

/* A function is part of a device with several if the VM has several of its slot. At boot, when all
 * are there. */
void vpci_join(struct vpci *v);

/* The beginning of a life: all as after reset. Sets up the function. */
void vpci_reset(struct vpci_function *f);

/* Keeps the function from mastering the bus until the next life, whatever the guest writes. */
void vpci_mute(struct vpci_function *f);

/* offset < GUEST_ECAM_SIZE. What is not aligned to its width, which is 1, 2 or 4, reads as all ones
 * and is not written. */
uint32_t vpci_read(const struct vpci *v, uint32_t offset, uint32_t width);
void vpci_write(struct vpci *v, uint32_t offset, uint32_t width, uint32_t value);

#endif
