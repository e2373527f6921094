/* SPDX-License-Identifier: Apache-2.0 */
/* What HS may do with which memory (arch/riscv/hart/hs_map.h). docs/design.md has the list. */
#ifndef CORE_BOOT_HS_MEMORY_H
#define CORE_BOOT_HS_MEMORY_H

#include "core/hart/pcpu.h"
#include "core/host/vm_config.h"

/* Makes the map, from platform and the image. Boot hart only, after page_alloc_init() and before
 * the other harts start. */
void hs_memory_make(const struct vm_guests *guests);

/* Adds what HS needs to reset a VM's devices. Boot hart only. A hart that uses the map already has
 * to fence before it goes there. */
void hs_memory_add_devices(const struct vm_config *vm);

/* Adds the pages of registers that are not in the map yet. Boot hart only; another one has to fence
 * before it goes there. */
void hs_memory_add_pages(uint64_t at, uint64_t size, const char *whose);

/* Calls a function that needs registers which are not in the map for good. Boot hart only. */
void hs_memory_without(void (*what)(void *), void *with);

/* The calling hart uses the map from here on. If it cannot, it says so in words, and goes on
 * without translation. */
void hs_memory_use(uint64_t hartid);

#endif
