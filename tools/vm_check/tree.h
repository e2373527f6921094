/* SPDX-License-Identifier: Apache-2.0 */
/* What vm-check reads in the host's tree and boot does not: boot probes the harts, and uses the
 * memory that it can read. */
#ifndef TOOLS_VM_CHECK_TREE_H
#define TOOLS_VM_CHECK_TREE_H

#include <stdint.h>

/* Returns the tree's upper bound of the guest interrupt files of a hart's IMSIC; QEMU may have
 * fewer. 0 if its S-mode has no IMSIC, or if its APLIC is disabled. */
uint32_t tree_guest_files(const void *tree, uint64_t hartid);

/* Calls tell() with the name of each memory node, and of each node below /reserved-memory, whose
 * reg cannot be read to its end: some of its memory is neither used nor reserved. */
void tree_broken_memory(const void *tree, void (*tell)(const char *name));

#endif
