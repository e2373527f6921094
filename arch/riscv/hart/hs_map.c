/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/hs_map.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"

#define PTE_ACCESS (HS_READ_WRITE | HS_EXECUTE)
#define SATP_SV39  8UL
#define SATP_MODE  60

/* The upper half of the virtual addresses is sign-extended, and matches no physical address. */
bool hs_map_reaches(const struct hs_map *map, uint64_t address)
{
	return !(address >> (pte_shift(map->levels) - 1));
}

bool hs_map_init(struct hs_map *map, uint64_t last, pte_alloc_fn *alloc)
{
	for (map->levels = 3; !hs_map_reaches(map, last); map->levels++) {
		if (map->levels == 5)
			return false;
	}
	map->root = alloc(PAGE_SIZE);
	map->satp = (SATP_SV39 + map->levels - 3) << SATP_MODE | (uint64_t)map->root / PAGE_SIZE;
	return true;
}

void hs_map_add(struct hs_map *map, uint64_t address, uint64_t size, enum hs_access access,
                pte_alloc_fn *alloc)
{
	/* A and D are set, because a hart may leave both to software (Svade). HS never reads
	 * them. */
	pte_map(map->root, map->levels, address, address, size, access | PTE_A | PTE_D | PTE_V,
	        alloc);
}

bool hs_map_has(const struct hs_map *map, uint64_t address)
{
	const uint64_t *table = map->root;

	for (uint32_t at = map->levels - 1;; at--) {
		uint64_t pte = table[address >> pte_shift(at) & 511];

		if (!(pte & PTE_V) || pte & PTE_ACCESS || !at)
			return pte & PTE_V;
		table = pte_table(pte);
	}
}

/* The first fence orders the stores to the tables before every walk, the second drops translations
 * of the former map: at boot this may be one of the firmware or of a boot loader. */
uint64_t hs_map_switch(uint64_t satp)
{
	uint64_t last = csr_read(CSR_SATP);

	sfence_vma_all();
	csr_write(CSR_SATP, satp);
	sfence_vma_all();
	return last;
}

bool hs_map_use(const struct hs_map *map)
{
	(void)hs_map_switch(map->satp);
	return csr_read(CSR_SATP) == map->satp;
}
