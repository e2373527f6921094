/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of kernel, initrd and device tree in a VM's RAM. For the parser only. */
#ifndef CORE_TREE_VM_LAYOUT_H
#define CORE_TREE_VM_LAYOUT_H

#include "core/host/vm_props.h"

/*
 * On entry first_size, n_pieces, kernel, initrd and, if load_offset_given, kernel_offset of the VM
 * are set. Sets kernel_is_image, kernel_span and the other offsets. Returns false after the refusal
 * is filled in.
 */
bool vm_layout(const struct vm_node *n, bool load_offset_given);

#endif
