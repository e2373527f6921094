/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that contain a kernel but cannot be run as they are. Pure. */
#ifndef CORE_TREE_KERNEL_FILE_H
#define CORE_TREE_KERNEL_FILE_H

#include "core/host/vm_config.h"

/*
 * Looks at a kernel without a RISC-V Image header, which runs from its first byte. Returns true if
 * it may be code. Returns false if it is a packed file, an ELF file or another known kind of file;
 * `reason` then says which, and how to convert it, as the reason of a refusal.
 */
bool kernel_file_is_raw(const struct vm_image *kernel, char *reason, size_t size);

#endif
