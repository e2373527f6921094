/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no kernel as it runs, though they hold one. Pure. */
#ifndef CORE_TREE_KERNEL_FILE_H
#define CORE_TREE_KERNEL_FILE_H

#include "core/host/vm_config.h"

/*
 * Looks at a kernel without a RISC-V Image header, which runs from its first byte. Returns true if
 * it may be code. Returns false if it is a packed file, an ELF file or another kind of file that
 * is known; `reason` then has what it is and what to do, as the reason of a refusal.
 */
bool kernel_file_is_raw(const struct vm_image *kernel, char *reason, size_t size);

#endif
