/* SPDX-License-Identifier: Apache-2.0 */
/* Where a VM's kernel, initrd and device tree go in its RAM. For the parser only. */
#ifndef CORE_CONFIG_VM_LAYOUT_H
#define CORE_CONFIG_VM_LAYOUT_H

#include "core/config/vm_config.h"

/*
 * memory, kernel, initrd and, where load_offset_given, kernel_offset are set: sets
 * kernel_is_image, kernel_span and the offsets. false: *why lacks only the node.
 */
bool vm_layout(struct vm_config *vm, bool load_offset_given, struct vm_refusal *why);

#endif
