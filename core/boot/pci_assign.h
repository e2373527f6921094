/* SPDX-License-Identifier: Apache-2.0 */
/* Gives PCI functions to the VMs that name them. Boot hart only. */
#ifndef CORE_BOOT_PCI_ASSIGN_H
#define CORE_BOOT_PCI_ASSIGN_H

#include "core/host/vm_config.h"

/*
 * If the tree names functions: turns off all functions of the host's bus, whether or not firmware
 * used them, and finds those that the tree names. Returns false if a VM cannot have one; each of
 * these is reported as a refusal of the tree.
 */
bool pci_assign(struct vm_tree *tree, void (*tell)(const char *line));

#endif
