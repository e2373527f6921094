/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end that drives counters by supervisor counter delegation (Smcdeleg, Ssccfg). siselect
 * 0x40 + n makes sireg the counter and sireg2 its mhpmevent; scountinhibit stops and starts. QEMU
 * supports only writes of the whole sireg and sireg2, not set, clear or swap. Each function takes a
 * few instructions, so all are inlined.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_SSCCFG_H
#define ARCH_RISCV_COUNTERS_HPM_SSCCFG_H

#include "arch/riscv/counters/hpm_sbi.h"
#include "arch/riscv/counters/ssccfg.h"
#include "vpmu/bits.h"

/* mhpmevent has the bits that inhibit modes in the order of the flags of a configuration. */
#define FLAGS_SHIFT 55
_Static_assert(SBI_PMU_CFG_FLAG_SET_MINH << FLAGS_SHIFT == MHPMEVENT_MINH &&
                   SBI_PMU_CFG_FLAG_SET_SINH << FLAGS_SHIFT == MHPMEVENT_SINH &&
                   SBI_PMU_CFG_FLAG_SET_UINH << FLAGS_SHIFT == MHPMEVENT_UINH &&
                   SBI_PMU_CFG_FLAG_SET_VSINH << FLAGS_SHIFT == MHPMEVENT_VSINH &&
                   SBI_PMU_CFG_FLAG_SET_VUINH << FLAGS_SHIFT == MHPMEVENT_VUINH,
               "the filters of both back ends");

/* Returns the filter HW_* as bits of mhpmevent. According to the manual MINH is read-only 0 here,
 * and only M-mode can set it. On a hart that lets HS write it, it must be set. */
static inline uint64_t hpm_ssccfg_filter(uint32_t inhibit)
{
	return hpm_sbi_filter(inhibit) << FLAGS_SHIFT;
}

static inline uint64_t hpm_ssccfg_bits(const struct hpm *hpm, const struct hw_event *config)
{
	const struct hpm_event *event = hpm_event_find(hpm, config->event_idx);

	if (!event && !hw_event_is_raw(config->event_idx))
		return 0;
	/* For a raw event, hpm_raw_hctrs() has checked that it is in the table. */
	return hpm_ssccfg_filter(config->inhibit) |
	       (event ? event->selector : config->event_data & MHPMEVENT_SELECTOR);
}

/* Programs a stopped counter with an event and filter. Returns false if refused; then the counter
 * has no contents. */
static inline bool hpm_ssccfg_program(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	uint64_t bits = hpm_ssccfg_bits(hpm, config);

	if (!bits)
		return false;
	hpm->slots[hctr].selector = bits;
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, bits | MHPMEVENT_OF);
	return true;
}

static inline void hpm_ssccfg_set(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed)
{
	uint64_t arm = armed ? hctrs & hpm->may_arm : 0;
	uint64_t change = arm | hpm->armed;
	uint32_t i;

	for_each_bit (i, hctrs) {
		csr_write(CSR_SISELECT, SISELECT_COUNTER0 + i);
		/* Otherwise only the hart itself changes OF: from 0 to 1, when an armed counter
		 * wraps. */
		if (change >> i & 1)
			csr_write(CSR_SIREG2,
			          hpm->slots[i].selector | (arm >> i & 1 ? 0 : MHPMEVENT_OF));
		/* Writing the value again is cheaper than checking whether it is still there. */
		csr_write(CSR_SIREG, value);
	}
	hpm->armed = (hpm->armed & ~hctrs) | arm;
}

/* For counters in may_arm. */
static inline void hpm_ssccfg_start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	hpm->armed |= BIT(hctr);
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, hpm->slots[hctr].selector);
	csr_write(CSR_SIREG, value);
	csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
}

#endif
