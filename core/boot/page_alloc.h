/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for tables, which the boot hart allocates at boot and which is never freed: the range
 * between Tally's image and RAM base + VM_RESERVED_MEMORY. The VM tree's struct vm_config has the
 * owners of the memory after it.
 */
#ifndef CORE_BOOT_PAGE_ALLOC_H
#define CORE_BOOT_PAGE_ALLOC_H

#include "core/lib/types.h"

void page_alloc_init(uint64_t tables_start, uint64_t tables_end);

/* Returns zeroed memory, aligned to `size` bytes, which is a power of two and at least PAGE_SIZE.
 * Panics if there is none; the range is far larger than 16 VMs can need. */
void *page_alloc(size_t size);

/* The same for memory to which no hart's tables refer: of any size, aligned to a cache line. */
void *page_alloc_array(size_t size);

/* Like page_alloc_array(), but the memory may have any contents. */
void *page_alloc_uncleared(size_t size);

/* Frees the bytes after the first `used` of the array that was allocated last. */
void page_alloc_trim(const void *last, size_t size, size_t used);

/* Returns how many bytes are allocated, or lost to alignment. */
uint64_t page_alloc_used(void);

#endif
