/* SPDX-License-Identifier: Apache-2.0 */
/* The permissions of HS for each range of memory (arch/riscv/hart/hs_map.h). docs/design.md has the
 * list. */
#ifndef CORE_BOOT_HS_MEMORY_H
#define CORE_BOOT_HS_MEMORY_H

#include "core/host/vm_config.h"

/* Makes the map, from platform and the image. Boot hart only, after page_alloc_init() and before
 * the other harts start. */
void hs_memory_make(const struct vm_guests *guests);

/* Adds the registers that HS needs to reset a VM's devices. Boot hart only. A hart that uses the
 * map already must fence before it accesses them. */
void hs_memory_add_devices(const struct vm_config *vm);

/* Adds the pages of registers that are not in the map yet. Boot hart only; other harts must fence
 * before they access them. */
void hs_memory_add_pages(uint64_t at, uint64_t size, const char *whose);

/* Calls a function without the map, because it needs registers that are never in it. Boot hart
 * only. */
void hs_memory_call_unmapped(void (*what)(void *), void *with);

/* The calling hart uses the map from here on. If it cannot, it logs that, and continues without
 * translation. */
void hs_memory_use(uint64_t hartid);

#endif
