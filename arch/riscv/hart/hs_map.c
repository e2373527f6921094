/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/hs_map.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/panic.h"

#define PTE_V BIT(0)
/* Set, because a hart may leave both to software (Svade). HS never reads them. */
#define PTE_AD        (BIT(6) | BIT(7))
#define PTE_ACCESS    (HS_READ_WRITE | HS_EXECUTE)
#define PTE_PPN_SHIFT 10
#define LEVEL_BITS    9
#define SATP_SV39     8UL
#define SATP_MODE     60

/* Returns the number of low address bits that a leaf of this level does not translate. */
static uint32_t shift_of(uint32_t level)
{
	return 12 + LEVEL_BITS * level;
}

/* The upper half of the virtual addresses is sign-extended, and matches no physical address. */
bool hs_map_reaches(const struct hs_map *map, uint64_t address)
{
	return !(address >> (shift_of(map->levels) - 1));
}

bool hs_map_init(struct hs_map *map, uint64_t last, hs_map_alloc_fn *alloc)
{
	for (map->levels = 3; !hs_map_reaches(map, last); map->levels++) {
		if (map->levels == 5)
			return false;
	}
	map->root = alloc(PAGE_SIZE);
	map->satp = (SATP_SV39 + map->levels - 3) << SATP_MODE | (uint64_t)map->root / PAGE_SIZE;
	return true;
}

/* Returns the entry of this level for an address. Makes the tables above it. */
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
		/* Leaves of at most 1 GiB: no machine needs larger ones. */
		uint32_t level = 2;
		uint64_t *pte;

		while (address & (BIT(shift_of(level)) - 1) || size < BIT(shift_of(level)))
			level--;
		pte = entry(map, address, level, alloc);
		/* Also fills the following entries of this table, up to the first mapped one. */
		do {
			*pte++ = address / PAGE_SIZE << PTE_PPN_SHIFT | access | PTE_AD | PTE_V;
			address += BIT(shift_of(level));
			size -= BIT(shift_of(level));
		} while (size >= BIT(shift_of(level)) && (uint64_t)pte & (PAGE_SIZE - 1) && !*pte);
	}
}

bool hs_map_has(const struct hs_map *map, uint64_t address)
{
	const uint64_t *table = map->root;

	for (uint32_t at = map->levels - 1;; at--) {
		uint64_t pte = table[address >> shift_of(at) & (BIT(LEVEL_BITS) - 1)];

		if (!(pte & PTE_V) || pte & PTE_ACCESS || !at)
			return pte & PTE_V;
		table = (const uint64_t *)(pte >> PTE_PPN_SHIFT << 12);
	}
}

uint64_t hs_map_leave(void)
{
	uint64_t satp = csr_read(CSR_SATP);

	csr_write(CSR_SATP, 0);
	sfence_vma_all();
	return satp;
}

void hs_map_return(uint64_t satp)
{
	csr_write(CSR_SATP, satp);
	sfence_vma_all();
}

bool hs_map_use(const struct hs_map *map)
{
	/* Orders the stores to the tables before every walk, and drops translations of an earlier
	 * map of the firmware or a boot loader. */
	sfence_vma_all();
	csr_write(CSR_SATP, map->satp);
	sfence_vma_all();
	return csr_read(CSR_SATP) == map->satp;
}
