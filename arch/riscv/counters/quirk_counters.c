/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/counters/hpm_sbi.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"

/* The probe counts HS itself, unlike any guest's counter: all modes except M. */
static bool probe_start(uint32_t event_idx, uint32_t hctr)
{
	return hpm_sbi_configure(hctr, SBI_PMU_CFG_FLAG_SET_MINH, event_idx, 0) &&
	       sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, hctr, 1, SBI_PMU_START_SET_INIT_VALUE,
	                0, 0)
	               .error == SBI_SUCCESS;
}

bool quirk_one_counter_per_event(uint32_t event_idx, uint32_t hctr_a, uint32_t hctr_b)
{
	bool started = probe_start(event_idx, hctr_a) && probe_start(event_idx, hctr_b);
	uint64_t before_a = hpm_read(hctr_a), before_b = hpm_read(hctr_b);

	for (volatile int i = 0; i < 100; i++)
		;
	bool moved = hpm_read(hctr_b) != before_b;

	if (started && !moved && hpm_read(hctr_a) != before_a)
		quirks_believe_qemu();
	hpm_sbi_reset(hctr_a);
	hpm_sbi_reset(hctr_b);
	/* If a counter does not even start, assuming the quirk is safer. */
	return !started || !moved;
}
