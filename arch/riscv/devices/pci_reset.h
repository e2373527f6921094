/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings functions of the PCI bus to rest. None of these waits: the caller asks again, and gives up
 * when it has waited enough. HS reaches the function's configuration space, and where its BARs have
 * what these need.
 */
#ifndef ARCH_RISCV_DEVICES_PCI_RESET_H
#define ARCH_RISCV_DEVICES_PCI_RESET_H

#include "arch/riscv/devices/pci.h"

#define PCI_FLR_MS 100U /* after it nobody may ask the function for so long */

/* No request of the function begins any more. */
void pci_master_off(const struct pci_function *f);

/* Whether requests of the function have no completion yet. Conventional functions do not tell. */
bool pci_is_busy(const struct pci_function *f);

/* Begins the reset, which is over at once for virtio; PCI_FLR_MS later for others. */
void pci_reset_begin(const struct pci_function *f);

/* Whether the reset is over. Then the configuration space may be as after power-on. */
bool pci_reset_done(const struct pci_function *f);

/* Masks and clears some entries of the table of messages, from *next on, which it moves. Returns
 * whether none is left. */
#define PCI_MSIX_STEP 64U
bool pci_clear_msix(const struct pci_function *f, uint32_t *next);

/* Whether a virtio function offers ACCESS_PLATFORM: it is behind the IOMMU then, and only then. It
 * decodes its BARs. */
bool pci_virtio_is_translated(const struct pci_function *f);

/* Returns where HS goes for these, besides configuration space: the n-th range. */
bool pci_reaches(const struct pci_function *f, uint32_t n, uint64_t *at, uint64_t *size);

#endif
