/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters driven through supervisor counter delegation (Smcdeleg/Ssccfg): siselect 0x40 + n
 * makes sireg the counter and sireg2 its mhpmevent; scountinhibit stops and starts. QEMU takes
 * whole writes to sireg and sireg2 only (no set, clear or useful swap).
 */
#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/ssccfg.h"

static uint64_t event_bits(const struct hpm *hpm, const struct hpm_config *config)
{
	const struct hpm_event *event = hpm_event_find(hpm, config->event_idx);
	uint64_t bits = MHPMEVENT_UINH;

	if (!event)
		return 0;
	if (!(config->inhibit & HPM_COUNT_HS))
		bits |= MHPMEVENT_SINH;
	if (config->inhibit & HPM_INH_VS)
		bits |= MHPMEVENT_VSINH;
	if (config->inhibit & HPM_INH_VU)
		bits |= MHPMEVENT_VUINH;
	return bits | event->selector;
}

static bool ssccfg_program(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	uint64_t bits = event_bits(hpm, config);

	if (!bits)
		return false;
	hpm->slots[hctr].selector = bits;
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, bits | MHPMEVENT_OF);
	return true;
}

/* To write the value again costs less than to find out whether it is still there. */
static bool ssccfg_set(struct hpm *hpm, uint32_t hctr, uint64_t value, bool armed)
{
	uint64_t was_armed = hpm->armed & BIT(hctr);

	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	/* Only the hart changes OF behind our back, from 0 to 1, when an armed one wraps. */
	if (armed) {
		csr_write(CSR_SIREG2, hpm->slots[hctr].selector);
		hpm->armed |= BIT(hctr);
	} else if (was_armed) {
		csr_write(CSR_SIREG2, hpm->slots[hctr].selector | MHPMEVENT_OF);
		hpm->armed &= ~BIT(hctr);
	}
	csr_write(CSR_SIREG, value);
	return true;
}

static void ssccfg_run(struct hpm *hpm, uint64_t hctrs)
{
	(void)hpm;
	csr_clear(CSR_SCOUNTINHIBIT, hctrs);
}

static void ssccfg_stop(uint64_t hctrs)
{
	csr_set(CSR_SCOUNTINHIBIT, hctrs);
}

static bool ssccfg_step(uint32_t hctr, uint64_t last)
{
	uint64_t value;

	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	value = csr_read(CSR_SIREG);
	if (value == last)
		return false;
	csr_write(CSR_SIREG, value + 1);
	return true;
}

const struct hpm_backend hpm_ssccfg = {
    .name = "ssccfg",
    .program = ssccfg_program,
    .set = ssccfg_set,
    .run = ssccfg_run,
    .stop = ssccfg_stop,
    .step = ssccfg_step,
};
