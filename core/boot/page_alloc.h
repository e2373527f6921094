/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory handed out once, at boot, on the boot hart, and never taken back:
 * tables from the room between Tally's image and RAM base + VM_RESERVED_MEMORY,
 * guest memory from there up to the VM tree, which has been moved to the end of RAM.
 */
#ifndef CORE_BOOT_PAGE_ALLOC_H
#define CORE_BOOT_PAGE_ALLOC_H

#include "core/lib/types.h"

void page_alloc_init(uint64_t tables_start, uint64_t tables_end, uint64_t guests_start,
                     uint64_t guests_end);

/* Zeroed, aligned to size (a power of two, at least PAGE_SIZE). Panics when there is none: the
 * room is far larger than the most that 16 VMs can need. */
void *page_alloc(size_t size);

/* Zeroed guest memory, size a multiple of 2 MiB, aligned to 2 MiB. The VM tree has been checked
 * against vm_guest_memory(), so it is there. */
hpa_t guest_memory_alloc(uint64_t size);

#endif
