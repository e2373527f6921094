/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the hart sets A and D in a page table that the G-stage maps read-only: quirks.h. The
 * trial's guest has its root table in such memory, and one page of 1 GiB for its data.
 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/pte.h"
#include "arch/riscv/hart/quirks.h"

/* vs_run.S */
extern const char vs_load_at[], vs_store_at[];

/* The trial's pages of 1 GiB, of both stages. */
enum { CODE, TABLE, DATA };
static uint64_t trial_address(uint64_t which, const void *what)
{
	return which << 30 | ((uint64_t)what & (GIB(1) - 1));
}

static void trial_map(uint64_t which, const void *what, uint64_t flags)
{
	gstage_trial[which] = pte(ALIGN_DOWN((uint64_t)what, GIB(1)), flags);
}

/* Whether a load or a store changes A or D in the table, with the present henvcfg, or fails
 * although no change is needed. */
static bool tables_change(void)
{
	static const uint8_t flags[] = {PTE_A | PTE_D, PTE_A | PTE_D, 0, PTE_A};
	/* No address of the trial uses the other entries of the root. */
	uint64_t *table = &gstage_trial[PAGE_SIZE / 8], *entry = &table[DATA];
	void *data = &gstage_trial[2 * PAGE_SIZE / 8];
	bool changes = false;

	trial_map(CODE, vs_load_at, PTE_LEAF & ~PTE_W);
	trial_map(TABLE, table, PTE_LEAF & ~PTE_W);
	trial_map(DATA, data, PTE_LEAF & ~PTE_X);
	table[CODE] = pte(CODE * GIB(1), PTE_LEAF & ~(PTE_W | PTE_U));
	for (uint32_t i = 0; i < ARRAY_SIZE(flags); i++) {
		uint64_t before = pte(DATA * GIB(1), PTE_V | PTE_R | PTE_W | flags[i]);

		*entry = before;
		struct vs_end end =
		    vs_run(trial_address(CODE, i & 1 ? vs_store_at : vs_load_at),
		           trial_address(DATA, data),
		           VSATP_MODE_SV39 | trial_address(TABLE, table) / PAGE_SIZE,
		           HGATP_MODE_SV39X4 | (uint64_t)gstage_trial / PAGE_SIZE);

		/* The first two need no change: they show that the trial works. */
		changes |= *entry != before || (i < 2 && end.scause != CAUSE_ECALL_VS);
	}
	for (uint32_t i = CODE; i <= DATA; i++)
		gstage_trial[i] = table[i] = 0;
	hfence_gvma_all();
	hfence_vvma_all();
	return changes;
}

bool quirk_probe_ad(void)
{
	uint64_t henvcfg = csr_read(CSR_HENVCFG);
	bool change = tables_change();

	if (!change || !(henvcfg & HENVCFG_ADUE))
		return !change;
	csr_clear(CSR_HENVCFG, HENVCFG_ADUE);
	change = tables_change();
	csr_write(CSR_HENVCFG, henvcfg);
	quirks.ad_past_gstage = true;
	return !change;
}
