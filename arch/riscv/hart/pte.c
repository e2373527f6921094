/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/pte.h"

#include "core/panic.h"

/* Returns the entry of this level for an address. Makes the tables above it. */
static uint64_t *entry(uint64_t *table, uint32_t levels, uint64_t address, uint32_t level,
                       pte_alloc_fn *alloc)
{
	uint64_t rest = address;

	for (uint32_t at = levels - 1;; at--) {
		uint64_t *e = &table[rest >> pte_shift(at)];

		if (*e & (PTE_R | PTE_W | PTE_X) || (at == level && *e & PTE_V))
			panic("page table: %lx is mapped twice", address);
		if (at == level)
			return e;
		if (!(*e & PTE_V))
			*e = pte((uint64_t)alloc(PAGE_SIZE), PTE_V);
		table = pte_table(*e);
		rest &= BIT(pte_shift(at)) - 1;
	}
}

void pte_map(uint64_t *root, uint32_t levels, uint64_t address, uint64_t to, uint64_t size,
             uint64_t flags, pte_alloc_fn *alloc)
{
	while (size) {
		uint32_t level = 2;
		uint64_t leaf, *e;

		while ((address | to) & (BIT(pte_shift(level)) - 1) || size < BIT(pte_shift(level)))
			level--;
		leaf = BIT(pte_shift(level));
		e = entry(root, levels, address, level, alloc);
		/* Also fills the following entries of this table, up to the first mapped one. */
		do {
			*e++ = pte(to, flags);
			address += leaf;
			to += leaf;
			size -= leaf;
		} while (size >= leaf && (uint64_t)e & (PAGE_SIZE - 1) && !*e);
	}
}
