/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The translation of HS itself: addresses are either mapped to themselves, with the permissions
 * that HS needs there, or not mapped. Made once, at boot, with the mode that reaches all addresses
 * with the fewest levels, and used by all harts.
 */
#ifndef ARCH_RISCV_HART_HS_MAP_H
#define ARCH_RISCV_HART_HS_MAP_H

#include "arch/riscv/hart/pte.h"

enum hs_access {
	HS_READ = PTE_R,
	HS_WRITE = PTE_W,
	HS_EXECUTE = PTE_X,
	HS_READ_WRITE = HS_READ | HS_WRITE,
	HS_READ_EXECUTE = HS_READ | HS_EXECUTE,
};

struct hs_map {
	uint64_t *root;
	uint32_t levels; /* 3: Sv39, 4: Sv48, 5: Sv57 */
	uint64_t satp;
};

/* Begins a map of addresses up to `last`. Returns false if no mode reaches `last`. */
bool hs_map_init(struct hs_map *map, uint64_t last, pte_alloc_fn *alloc);

/* Whether the map can contain an address. */
bool hs_map_reaches(const struct hs_map *map, uint64_t address);

/* Maps whole pages, with larger leaves where they fit. Panics if a page is already mapped. */
void hs_map_add(struct hs_map *map, uint64_t address, uint64_t size, enum hs_access access,
                pte_alloc_fn *alloc);

/* Whether an address is mapped. */
bool hs_map_has(const struct hs_map *map, uint64_t address);

/* Sets satp of this hart, and returns its former value. 0: no translation. */
uint64_t hs_map_switch(uint64_t satp);

/* Makes the calling hart use the map. Returns false if the hart lacks the mode; then nothing has
 * changed. */
bool hs_map_use(const struct hs_map *map);

#endif
