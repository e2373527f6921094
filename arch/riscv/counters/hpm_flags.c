/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OF bits that the guest reads itself. Without Ssccfg a read of scountovf does not trap, so the
 * guest sees the hart's OF bits. For a vcpu that is alone on its hart, Tally makes each bit equal
 * to OF of the guest's counter: 1 after a wrap, otherwise 0, even if the counter started far from
 * its wrap.
 *
 * The firmware sets OF when it configures a counter, and clears it when it starts one while no
 * LCOFI is pending. There is no other way to change OF.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/port.h"
#include "vpmu/bits.h"

void hpm_show_flags(struct hpm *hpm)
{
	uint64_t set = csr_read(CSR_SCOUNTOVF) & hpm->hctrs;

	hpm->hart_flags = true;
	if (!set)
		return;
	hpm_sbi_clear_flags(hpm, set, HPM_NEAR);
	hpm_sbi_stop(hpm, set);
}

static void set_flag(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	if (!hpm_sbi_program(hpm, hctr, &hpm->slots[hctr].config)) {
		hpm->failed |= BIT(hctr);
		hpm->unstarted |= BIT(hctr);
		hpm_failed();
	}
	hpm_sbi_start(hpm, BIT(hctr), value);
	hpm->armed &= ~BIT(hctr);
}

void hpm_set_flags(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t running)
{
	uint32_t i;

	if (hctrs & running)
		hpm_sbi_stop(hpm, hctrs & running);
	for_each_bit (i, hctrs) {
		uint64_t value = hpm_read(i);

		if (flags & BIT(i)) {
			set_flag(hpm, i, value);
		} else {
			hpm_sbi_clear_flags(hpm, BIT(i), value);
			hpm->armed |= BIT(i);
			if (value < HPM_NEAR)
				hpm->far |= BIT(i);
		}
	}
	if (hctrs & ~running)
		hpm_sbi_stop(hpm, hctrs & ~running);
}
