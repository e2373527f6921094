/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/pte.h"

#define LEVELS 3U

void gstage_init(struct gstage *gs, uint32_t vmid, pte_alloc_fn *alloc)
{
	gs->root = alloc(GSTAGE_ROOT_SIZE);
	gs->hgatp =
	    HGATP_MODE_SV39X4 | (uint64_t)vmid << HGATP_VMID_SHIFT | (uint64_t)gs->root / PAGE_SIZE;
}

void gstage_map(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, pte_alloc_fn *alloc)
{
	pte_map(gs->root, LEVELS, gpa.a, hpa.a, size, PTE_LEAF, alloc);
}

void gstage_map_data(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, bool writable,
                     pte_alloc_fn *alloc)
{
	pte_map(gs->root, LEVELS, gpa.a, hpa.a, size,
	        PTE_LEAF & ~(writable ? PTE_X : PTE_X | PTE_W), alloc);
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
