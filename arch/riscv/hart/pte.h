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

static inline uint64_t pte(uint64_t hpa, uint64_t flags)
{
	return hpa / PAGE_SIZE << PTE_PPN_SHIFT | flags;
}

#endif
