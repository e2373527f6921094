/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings functions of the PCI bus to rest. None of these functions waits: the caller calls again,
 * and gives up after its own time limit. HS maps the function's configuration space, and the needed
 * ranges of its BARs.
 */
#ifndef ARCH_RISCV_DEVICES_PCI_RESET_H
#define ARCH_RISCV_DEVICES_PCI_RESET_H

#include "arch/riscv/devices/pci.h"

#define PCI_FLR_MS 100U /* the function must not be accessed for so long after an FLR */

/* Stops new requests of the function. */
void pci_disable_master(const struct pci_function *f);

/* Whether requests of the function are incomplete. Conventional functions do not report that. */
bool pci_is_busy(const struct pci_function *f);

/* Begins the reset. It is over at once for virtio, and PCI_FLR_MS later for others. */
void pci_reset_begin(const struct pci_function *f);

/* Whether the reset is over. Then the configuration space may be in its power-on state. */
bool pci_reset_done(const struct pci_function *f);

/* Masks and clears up to PCI_MSIX_STEP entries of the MSI-X table, from *next on, and advances
 * *next. Returns whether the table is done. */
#define PCI_MSIX_STEP 16U
bool pci_clear_msix(const struct pci_function *f, uint32_t *next);

/* Whether a virtio function offers ACCESS_PLATFORM. If and only if it does, it is behind the IOMMU.
 * It must be decoding its BARs. */
bool pci_virtio_is_translated(const struct pci_function *f);

/* Gets the n-th range that HS needs here, besides configuration space. Returns false if none. */
bool pci_reset_range(const struct pci_function *f, uint32_t n, uint64_t *at, uint64_t *size);

#endif
