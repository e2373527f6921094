/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters driven through supervisor counter delegation (Smcdeleg/Ssccfg): siselect 0x40 + n
 * makes sireg the counter and sireg2 its mhpmevent; scountinhibit stops and starts. QEMU takes
 * whole writes to sireg and sireg2 only (no set, clear or useful swap).
 */
#include "arch/riscv/hpm_backend.h"

static uint64_t event_bits(const struct hpm *hpm, const struct hpm_config *config)
{
	const struct hpm_event *event = hpm_event_find(hpm, config->event_idx);
	/* By the manual MINH is read-only 0 here, and only M-mode can set it. A hart that takes it from
	 * us has to be told. */
	uint64_t bits = MHPMEVENT_UINH | MHPMEVENT_MINH;

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

bool hpm_ssccfg_program(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	uint64_t bits = event_bits(hpm, config);

	if (!bits)
		return false;
	hpm->slots[hctr].selector = bits;
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, bits | MHPMEVENT_OF);
	return true;
}
