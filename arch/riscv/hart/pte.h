/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of page tables, of both stages (privileged manual, "Sv39"). */
#ifndef ARCH_RISCV_HART_PTE_H
#define ARCH_RISCV_HART_PTE_H

#include "core/lib/types.h"

#define PTE_V    BIT(0)
#define PTE_R    BIT(1)
#define PTE_W    BIT(2)
#define PTE_X    BIT(3)
#define PTE_U    BIT(4) /* the G-stage treats every access as one from U-mode */
#define PTE_A    BIT(6)
#define PTE_D    BIT(7)
#define PTE_LEAF (PTE_V | PTE_R | PTE_W | PTE_X | PTE_U | PTE_A | PTE_D)

#define PTE_PPN_SHIFT 10

/* Returns `size` bytes of zeroed memory, aligned to size. Never fails: boot has checked that there
 * is enough memory. */
typedef void *pte_alloc_fn(size_t size);

static inline uint64_t pte(uint64_t hpa, uint64_t flags)
{
	return hpa / PAGE_SIZE << PTE_PPN_SHIFT | flags;
}

/* Returns the number of low address bits that a leaf of this level does not translate. */
static inline uint32_t pte_shift(uint32_t level)
{
	return 12 + 9 * level;
}

/* Returns the table to which an entry refers that is no leaf. */
static inline uint64_t *pte_table(uint64_t entry)
{
	return (uint64_t *)(entry >> PTE_PPN_SHIFT << 12);
}

/*
 * Maps whole pages, with the largest leaves that fit, of 1 GiB at most: no machine needs larger
 * ones. `flags` are those of the leaves. `root` is the table of level `levels` - 1, which reaches
 * the addresses. Panics if a page is already mapped. At boot.
 */
void pte_map(uint64_t *root, uint32_t levels, uint64_t address, uint64_t to, uint64_t size,
             uint64_t flags, pte_alloc_fn *alloc);

#endif
