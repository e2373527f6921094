/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed counters, cycle and instret, which have neither a selector nor OF. HS measures its own
 * work with instret, which runs from boot on without a filter. Between take and release it belongs
 * to a guest and does not count in HS. Only guests use cycle.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/hart/sbi.h"
#include "core/panic.h"

/* UINH and SINH exclude HS itself, as in hpm_sbi_program(). */
bool hpm_fixed_configure(uint32_t hctr, uint64_t flags)
{
	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, hctr, 1, 0, 0, 0);
	return hpm_sbi_configure(hctr, flags, hpm_event_of(hctr), 0);
}

static bool sbi_run(uint32_t hctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, hctr, 1, 0, 0, 0).error == SBI_SUCCESS;
}

static void ssccfg_take(uint32_t hctr, uint64_t filter)
{
	csr_set(CSR_SCOUNTINHIBIT, BIT(hctr));
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, filter);
}

bool hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	hpm->slots[hctr].config = *config;
	hpm->armed &= ~BIT(hctr);
	if (!hpm->delegated)
		return hpm_fixed_configure(hctr, hpm_sbi_filter(config->inhibit));
	ssccfg_take(hctr, hpm_ssccfg_filter(config->inhibit));
	return true;
}

bool hpm_fixed_to_hs(struct hpm *hpm, uint32_t hctr)
{
	bool done = false;

	if (hpm->delegated) {
		ssccfg_take(hctr, MHPMEVENT_MINH);
		csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
		return true;
	}
	for (int i = 0; i < 8 && !done; i++)
		done = hpm_fixed_configure(hctr, 0) && sbi_run(hctr);
	hpm->failed &= ~BIT(hctr);
	hpm->unstarted &= ~BIT(hctr);
	return done;
}

void hpm_fixed_release(struct hpm *hpm, uint64_t hctrs)
{
	/* HS has no other counter for its own work, so it cannot continue without instret. */
	if (hctrs & HCTRS_INSTRET && !hpm_fixed_to_hs(hpm, HCTR_INSTRET))
		platform_lacks("the firmware does not give instret back: its SBI PMU calls fail");
}
