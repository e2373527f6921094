/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration space that a guest sees: one bus with the functions of its VM, at their own
 * device and function numbers. Elsewhere reads are all ones.
 *
 * Reads return values from boot, except for the status register. The function gets only these
 * writes: bus mastering, INTx Disable, errors to clear in the status, and enable and mask of a
 * MSI-X that the guest sees. A BAR keeps its address; all ones written to it read as its size, as
 * usual. The function always decodes memory: only the guest sees that bit change.
 */
#ifndef CORE_IO_VPCI_H
#define CORE_IO_VPCI_H

#include "arch/riscv/devices/pci.h"
#include "core/host/vm_config.h"
#include "core/vcpu/vm_state.h"

/* Makes the guest's view of a function whose BARs have their addresses. */
void vpci_init(struct vpci_function *f, const struct pci_function *host, bool intx, bool msix);

/* Marks functions as parts of one device if the VM has several in a slot. At boot, after all are
 * added. */
void vpci_join(struct vpci *v);

/* Resets the guest's view at the beginning of a life, and sets up the function. */
void vpci_reset(struct vpci_function *f);

/* Keeps the function from mastering the bus until the next life, even if the guest enables it. */
void vpci_block_master(struct vpci_function *f);

/* Writes the bytes that `mask` selects, if the word of the header keeps what is written. Returns
 * whether the command was written. */
bool vpci_write_header(struct vpci_header *header, uint32_t word, uint32_t value, uint32_t mask);

/* offset < GUEST_ECAM_SIZE. width is 1, 2 or 4. Misaligned reads return all ones, misaligned writes
 * are ignored. */
uint32_t vpci_read(const struct vpci *v, uint32_t offset, uint32_t width);
void vpci_write(struct vpci *v, uint32_t offset, uint32_t width, uint32_t value);

#endif
