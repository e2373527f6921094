/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the boot hart allocates at boot and that is never freed: tables from the range
 * between Tally's image and RAM base + VM_RESERVED_MEMORY, guest memory from there up to the VM
 * tree, which has been moved to the end of RAM.
 */
#ifndef CORE_BOOT_PAGE_ALLOC_H
#define CORE_BOOT_PAGE_ALLOC_H

#include "core/lib/types.h"

void page_alloc_init(uint64_t tables_start, uint64_t tables_end, uint64_t guests_start,
                     uint64_t guests_end);

/* Returns zeroed memory, aligned to `size` bytes, which is a power of two and at least PAGE_SIZE.
 * Panics if there is none; the range is far larger than 16 VMs can need. */
void *page_alloc(size_t size);

/* Returns zeroed guest memory, aligned to 2 MiB; size is a multiple of 2 MiB. Never fails, because
 * the VM tree was checked against vm_guest_memory(). */
hpa_t guest_memory_alloc(uint64_t size);

#endif
