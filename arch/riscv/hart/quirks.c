/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"
#include "arch/riscv/hart/trap.h"

struct quirks quirks;

void quirks_believe_qemu(void)
{
	quirks.no_armed_cache_events = true;
	quirks.fetch_faults_stop_time = true;
	quirks.lcofi_delegates = true;
}

/* Returns the number of instructions between two reads of instret. Only `insn` varies. */
#define COUNT_BEFORE_NOPS(insn)                                                                    \
	({                                                                                         \
		uint64_t first_, last_;                                                            \
		__asm__ volatile(                                                                  \
		    ".balign 64\n" /* one translation block: no page ends in it; before norvc */   \
		    ".option push\n.option norvc\n"                                                \
		    "csrr %0, instret\n" insn "\n"                                                 \
		    ".rept 8\nnop\n.endr\n"                                                        \
		    "csrr %1, instret\n"                                                           \
		    ".option pop"                                                                  \
		    : "=&r"(first_), "=r"(last_)::"memory");                                       \
		last_ - first_;                                                                    \
	})

bool quirk_wfi_recounts(void)
{
	uint64_t sie = csr_read(CSR_SIE);

	/* Interrupts are disabled at boot, so a pending one ends WFI and is not taken. */
	csr_write(CSR_SIE, BIT(IRQ_SSI));
	csr_set(CSR_SIP, BIT(IRQ_SSI));
	bool recounts = COUNT_BEFORE_NOPS("wfi") > COUNT_BEFORE_NOPS("nop");

	csr_clear(CSR_SIP, BIT(IRQ_SSI));
	fence_output_then_memory();
	csr_write(CSR_SIE, sie);
	return recounts;
}

extern const char vs_wfi_at[]; /* vs_run.S */

void quirk_probe_wfi_pc(void)
{
	uint64_t at = (uint64_t)vs_wfi_at;
	struct vs_end end = vs_run(at, 0, 0, 0);

	if (end.scause == CAUSE_VIRTUAL_INSN && csr_read(CSR_SEPC) == at + PAGE_SIZE) {
		quirks.wfi_pc_at_page_end = true;
		quirks_believe_qemu();
	}
}

bool quirk_vs_timer_pends(void)
{
	/* Sufficient if Sstc is missing only in the tree. */
	(void)hs_can(csr_write(CSR_VSTIMECMP, ~0UL));
	csr_write(CSR_HTIMEDELTA, 0);
	return csr_read(CSR_HIP) & BIT(IRQ_VSTI);
}

void quirk_probe_unmask(void)
{
	const uint64_t lcofi = BIT(IRQ_LCOFI);
	/* While any interrupt is pending, QEMU checks all of them at each instruction, which it
	 * would not do for a guest. */
	bool quiet = !csr_read(CSR_SIP);
	bool at_once =
	    quiet && vs_probe(0, lcofi, 0, lcofi, SSTATUS_SIE) && vs_probe(0, lcofi, 0, lcofi, 0);
	/* According to the AIA, VTI may block other interrupts of the guest. Then it cannot be used
	 * here. */
	bool others = vs_probe(BIT(IRQ_SSI), BIT(IRQ_VSSI), HVICTL_VTI, 0, SSTATUS_SIE);

	quirks.late_unmask = !at_once && others;
}

void quirks_text(char *buf, size_t size)
{
	static const struct {
		const bool *found;
		const char *name;
	} names[] = {
	    {&quirks.home_counters, "home-counters"},
	    {&quirks.no_armed_cache_events, "no-armed-cache-events"},
	    {&quirks.scountovf_leaks, "scountovf-leaks"},
	    {&quirks.wfi_recounts, "wfi-recounts"},
	    {&quirks.wfi_pc_at_page_end, "wfi-pc-at-page-end"},
	    {&quirks.ad_past_gstage, "ad-past-gstage"},
	    {&quirks.late_unmask, "late-unmask"},
	    {&quirks.no_lcofi, "no-lcofi"},
	    {&quirks.fetch_faults_stop_time, "fetch-faults-stop-time"},
	    {&quirks.lcofi_delegates, "lcofi-delegates-load-faults"},
	    {NULL, "none"}, /* if none of them was found */
	};
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i].name;

		if (names[i].found ? !*names[i].found : used > 0)
			continue;
		if (used && used + 1 < size)
			buf[used++] = ' ';
		while (*name && used + 1 < size)
			buf[used++] = *name++;
	}
	buf[used] = 0;
}
