/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hs_map.h"

#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include "core/panic.h"

#define PTE_V BIT(0)
/* A hart may leave both to software (Svade), and nobody here looks at them. */
#define PTE_AD        (BIT(6) | BIT(7))
#define PTE_ACCESS    (HS_READ_WRITE | HS_EXECUTE)
#define PTE_PPN_SHIFT 10
#define LEVEL_BITS    9
#define SATP_SV39     8UL
#define SATP_MODE     60

/* Bits of an address that the entries of a level do not look at. */
static uint32_t shift_of(uint32_t level)
{
	return 12 + LEVEL_BITS * level;
}

bool hs_map_init(struct hs_map *map, uint64_t last, hs_map_alloc_fn *alloc)
{
	/* The upper half of virtual addresses is sign-extended, and stands for no physical one. */
	for (map->levels = 3; last >> (shift_of(map->levels) - 1); map->levels++) {
		if (map->levels == 5)
			return false;
	}
	map->root = alloc(PAGE_SIZE);
	map->satp = (SATP_SV39 + map->levels - 3) << SATP_MODE | (uint64_t)map->root / PAGE_SIZE;
	return true;
}

/* Returns the entry of this level for an address, and makes the tables above it. */
static uint64_t *entry(const struct hs_map *map, uint64_t address, uint32_t level,
                       hs_map_alloc_fn *alloc)
{
	uint64_t *table = map->root;

	for (uint32_t at = map->levels - 1;; at--) {
		uint64_t *pte = &table[address >> shift_of(at) & (BIT(LEVEL_BITS) - 1)];

		if (*pte & PTE_ACCESS || (at == level && *pte & PTE_V))
			panic("hs_map: %lx is mapped twice", address);
		if (at == level)
			return pte;
		if (!(*pte & PTE_V))
			*pte = (uint64_t)alloc(PAGE_SIZE) / PAGE_SIZE << PTE_PPN_SHIFT | PTE_V;
		table = (uint64_t *)(*pte >> PTE_PPN_SHIFT << 12);
	}
}

void hs_map_add(struct hs_map *map, uint64_t address, uint64_t size, enum hs_access access,
                hs_map_alloc_fn *alloc)
{
	while (size) {
		/* At most 1 GiB: no machine has use for larger ones. */
		uint32_t level = 2;

		while (address & (BIT(shift_of(level)) - 1) || size < BIT(shift_of(level)))
			level--;
		*entry(map, address, level, alloc) =
		    address / PAGE_SIZE << PTE_PPN_SHIFT | access | PTE_AD | PTE_V;
		address += BIT(shift_of(level));
		size -= BIT(shift_of(level));
	}
}

bool hs_map_use(const struct hs_map *map)
{
	/* The stores to the tables come before every walk, and nothing of an earlier map of the
	 * firmware's or a boot loader's is used. */
	sfence_vma_all();
	csr_write(CSR_SATP, map->satp);
	sfence_vma_all();
	return csr_read(CSR_SATP) == map->satp;
}
