/* SPDX-License-Identifier: Apache-2.0 */
/* PCI functions that act on the whole machine, not only for their VM. Pure. */
#ifndef CORE_HOST_PCI_ACTS_H
#define CORE_HOST_PCI_ACTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/host/vm_config.h"

/* An unknown class, before boot has read the bus. */
#define PCI_CLASS_UNKNOWN UINT32_MAX

/*
 * Returns whether a VM can have a function, judged by its id, vendor << 16 | device, and its class,
 * base class << 8 | subclass. Returns false if it stops, resets or watches the machine and the VM
 * tree does not consent, or if it reaches memory past the IOMMU; `reason` then has the reason of a
 * refusal. Both callers, the parser and boot, use the same words.
 */
bool pci_acts_allowed(uint32_t id, uint32_t class, const struct vm_pci *pci, char *reason,
                      size_t size);

/* The consent: the only value of the property `force` of a device. */
#define PCI_ACTS_CONSENT "it may stop the machine"

#endif
