/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters driven through supervisor counter delegation (Smcdeleg/Ssccfg): siselect 0x40 + n
 * makes sireg the counter and sireg2 its mhpmevent; scountinhibit stops and starts. QEMU takes
 * whole writes to sireg and sireg2 only (no set, clear or useful swap).
 */
#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/ssccfg.h"
#include "vpmu/sbi_pmu.h"

static uint64_t event_bits(const struct hpm *hpm, const struct hpm_config *config)
{
	const struct hpm_event *event = hpm_event_find(hpm, config->event_idx);
	uint32_t type = SBI_PMU_EVENT_TYPE(config->event_idx);
	uint64_t bits = MHPMEVENT_UINH;

	if (!event && type != SBI_PMU_TYPE_RAW && type != SBI_PMU_TYPE_RAW_V2)
		return 0;
	if (!(config->inhibit & HPM_COUNT_HS))
		bits |= MHPMEVENT_SINH;
	if (config->inhibit & HPM_INH_VS)
		bits |= MHPMEVENT_VSINH;
	if (config->inhibit & HPM_INH_VU)
		bits |= MHPMEVENT_VUINH;
	/* A raw value is the selector itself; vpmu/ has checked its width. */
	return bits | (event ? event->selector : config->event_data);
}

static bool ssccfg_program(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	uint64_t bits = event_bits(hpm, config);

	if (!bits)
		return false;
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, bits | MHPMEVENT_OF);
	return true;
}

static void ssccfg_start(struct hpm *hpm, uint32_t hctr, uint64_t value, bool armed)
{
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2,
	          event_bits(hpm, &hpm->slots[hctr].config) | (armed ? 0 : MHPMEVENT_OF));
	csr_write(CSR_SIREG, value);
	csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
}

/* OF is as the last start left it: a counter that overflowed since is not armed any more. */
static void ssccfg_resume(uint64_t hctr_mask, bool armed)
{
	(void)armed;
	csr_clear(CSR_SCOUNTINHIBIT, hctr_mask);
}

static void ssccfg_stop(uint64_t hctr_mask)
{
	csr_set(CSR_SCOUNTINHIBIT, hctr_mask);
}

const struct hpm_backend hpm_ssccfg = {
    .name = "ssccfg",
    .program = ssccfg_program,
    .start = ssccfg_start,
    .resume = ssccfg_resume,
    .stop = ssccfg_stop,
};
