/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/pte.h"
#include "core/panic.h"

#define LEVEL2_SHIFT 30 /* root table: 2048 entries of 1 GiB */
#define LEVEL1_SHIFT 21

void gstage_init(struct gstage *gs, uint32_t vmid, gstage_alloc_fn *alloc)
{
	gs->root = alloc(GSTAGE_ROOT_SIZE);
	gs->hgatp =
	    HGATP_MODE_SV39X4 | (uint64_t)vmid << HGATP_VMID_SHIFT | (uint64_t)gs->root / PAGE_SIZE;
}

void gstage_map(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, gstage_alloc_fn *alloc)
{
	uint64_t g = gpa.a, h = hpa.a, end = gpa.a + size;

	while (g < end) {
		uint64_t *root_pte = &gs->root[g >> LEVEL2_SHIFT & 2047];

		if (!((g | h) & (GIB(1) - 1)) && end - g >= GIB(1)) {
			*root_pte = pte(h, PTE_LEAF);
			g += GIB(1);
			h += GIB(1);
			continue;
		}
		if (!(*root_pte & PTE_V))
			*root_pte = pte((uint64_t)alloc(PAGE_SIZE), PTE_V);
		uint64_t *table = (uint64_t *)(*root_pte >> PTE_PPN_SHIFT << 12);
		uint64_t *leaf = &table[g >> LEVEL1_SHIFT & 511];

		if (*leaf & PTE_V)
			panic("gstage: %lx is mapped twice", g);
		*leaf = pte(h, PTE_LEAF);
		g += GSTAGE_BLOCK;
		h += GSTAGE_BLOCK;
	}
}

/* Returns the table to which an entry refers. Makes one if there is none. */
static uint64_t *table_of(uint64_t *entry, uint64_t address, gstage_alloc_fn *alloc)
{
	if (*entry & PTE_R)
		panic("gstage: %lx is mapped twice", address);
	if (!(*entry & PTE_V))
		*entry = pte((uint64_t)alloc(PAGE_SIZE), PTE_V);
	return (uint64_t *)(*entry >> PTE_PPN_SHIFT << 12);
}

/* Maps a block of 2 MiB with one leaf if its guest address is aligned to 2 MiB. Then its host
 * address must be aligned as well. */
static void map_pages(struct gstage *gs, uint64_t gpa, uint64_t hpa, uint64_t size, uint64_t flags,
                      gstage_alloc_fn *alloc)
{
	for (uint64_t at = gpa, end = gpa + size, step; at < end; at += step) {
		uint64_t *table = table_of(&gs->root[at >> LEVEL2_SHIFT & 2047], at, alloc);
		uint64_t *leaf = &table[at >> LEVEL1_SHIFT & 511];

		step = GSTAGE_BLOCK;
		if (at & (GSTAGE_BLOCK - 1) || end - at < GSTAGE_BLOCK) {
			leaf = &table_of(leaf, at, alloc)[at / PAGE_SIZE & 511];
			step = PAGE_SIZE;
		}
		if (*leaf & PTE_V)
			panic("gstage: %lx is mapped twice", at);
		*leaf = pte(at - gpa + hpa, flags);
	}
}

void gstage_map_device(struct gstage *gs, uint64_t address, uint64_t size, gstage_alloc_fn *alloc)
{
	map_pages(gs, address, address, size, PTE_LEAF & ~PTE_X, alloc);
}

void gstage_map_data(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, bool writable,
                     gstage_alloc_fn *alloc)
{
	map_pages(gs, gpa.a, hpa.a, size, PTE_LEAF & ~(writable ? PTE_X : PTE_X | PTE_W), alloc);
}

void gstage_map_page(struct gstage *gs, gpa_t gpa, hpa_t hpa, gstage_alloc_fn *alloc)
{
	uint64_t *table = table_of(&gs->root[gpa.a >> LEVEL2_SHIFT & 2047], gpa.a, alloc);
	uint64_t *leaf =
	    &table_of(&table[gpa.a >> LEVEL1_SHIFT & 511], gpa.a, alloc)[gpa.a / PAGE_SIZE & 511];

	if (*leaf & PTE_V)
		panic("gstage: %lx is mapped twice", gpa.a);
	*leaf = pte(hpa.a, PTE_LEAF & ~PTE_X);
}

uint64_t gstage_trial[GSTAGE_ROOT_SIZE / 8]
    __attribute__((aligned(GSTAGE_ROOT_SIZE), section(".bss..aligned")));

uint32_t gstage_vmid_count(void)
{
	/* With MODE = Bare all other fields of hgatp must be 0 (privileged manual, hgatp). With any
	 * other MODE the hart may walk the table, so this table maps nothing. */
	csr_write(CSR_HGATP, HGATP_MODE_SV39X4 | HGATP_VMID_MASK << HGATP_VMID_SHIFT |
	                         (uint64_t)gstage_trial / PAGE_SIZE);
	uint64_t vmid = csr_read(CSR_HGATP) >> HGATP_VMID_SHIFT & HGATP_VMID_MASK;

	csr_write(CSR_HGATP, 0);
	hfence_gvma_all();
	return (uint32_t)vmid + 1;
}
