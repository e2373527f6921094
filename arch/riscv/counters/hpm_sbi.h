/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware calls that are usually sufficient for a start or a stop. If the firmware refuses
 * one, functions of hpm_sbi.c repeat it for each counter.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_SBI_H
#define ARCH_RISCV_COUNTERS_HPM_SBI_H

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"

/* Counts in guests alone. */
#define HPM_SBI_GUESTS hpm_sbi_filter(0)

/* Returns the filter HW_* as flags of a configuration. M and U are never counted. */
static inline uint64_t hpm_sbi_filter(uint32_t inhibit)
{
	uint64_t flags = SBI_PMU_CFG_FLAG_SET_MINH | SBI_PMU_CFG_FLAG_SET_UINH;

	if (!(inhibit & HW_COUNT_HS))
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	if (inhibit & HW_INH_VS)
		flags |= SBI_PMU_CFG_FLAG_SET_VSINH;
	if (inhibit & HW_INH_VU)
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH;
	return flags;
}

/* Stops the counter, and takes its event from it. */
static inline void hpm_sbi_reset(uint64_t hctr)
{
	sbi_call_in_stay(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, hctr, 1, SBI_PMU_STOP_FLAG_RESET, 0, 0);
}

/* Gives the counter an event. Returns false if the firmware refuses. */
static inline bool hpm_sbi_configure(uint32_t hctr, uint64_t flags, uint32_t event_idx,
                                     uint64_t event_data)
{
	struct sbi_ret ret = sbi_call_in_stay(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, hctr, 1,
	                                      flags, event_idx, event_data);

	return ret.error == SBI_SUCCESS && ret.value == hctr;
}

/* Whether the firmware has this counter, readable by its CSR. *width: in bits. */
static inline bool hpm_sbi_has_counter(uint32_t hctr, uint32_t *width)
{
	struct sbi_ret ret = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_GET_INFO, hctr, 0, 0, 0, 0);

	*width = (uint32_t)((ret.value >> SBI_PMU_INFO_WIDTH_SHIFT) & 63) + 1;
	return ret.error == SBI_SUCCESS && !(ret.value & SBI_PMU_INFO_TYPE_FW) &&
	       (ret.value & 0xfff) == CSR_CYCLE + hctr;
}

/* Starts the counters one by one, after a call for several of them that failed at an unknown
 * counter. */
void hpm_sbi_start_each(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t value,
                        bool armed);

/*
 * Starts counters. With `armed`, OF is 0 afterwards. Without, an OF of 1 stays 1, so all counters
 * of the mask must have OF.
 *
 * OpenSBI clears OF when it starts a counter, unless an LCOFI is pending. In that case OpenSBI up
 * to 1.7 does not change OF, and since 1.8 sets it. So Tally sets the pending bit to keep an OF of
 * 1; to keep an OF of 0 it must clear the bit. Interrupts are off in HS, so the LCOFI is not taken
 * meanwhile. The caller has taken the LCOFI that was pending before. Only a counter that counts HS
 * can have caused another one, which stays pending until the guest is entered. No counter counts
 * M-mode.
 */
static inline bool hpm_sbi_start_call(uint64_t mask, uint64_t flags, uint64_t value, bool armed)
{
	uint64_t sip = armed ? csr_read(CSR_SIP) : csr_read_set(CSR_SIP, BIT(IRQ_LCOFI));
	uint64_t pending = sip & BIT(IRQ_LCOFI);

	if (armed && pending)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	uint64_t insns;
	long error =
	    sbi_call_counted(SBI_EXT_PMU, SBI_PMU_COUNTER_START, 0, mask, flags, value, 0, &insns)
	        .error;
	/* A start of instret changes it. */
	if (!(mask & HCTRS_INSTRET))
		sbi_leave_out(insns);
	if (!armed && !pending)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (armed && pending)
		csr_set(CSR_SIP, BIT(IRQ_LCOFI));
	return error == SBI_SUCCESS;
}

static inline bool hpm_sbi_stop_call(uint64_t mask)
{
	long error = sbi_call_in_stay(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, 0, mask, 0, 0, 0).error;

	return error == SBI_SUCCESS || error == SBI_ERR_ALREADY_STOPPED;
}

static inline void hpm_sbi_start_at(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t value,
                                    bool armed)
{
	if (__builtin_expect(!hpm_sbi_start_call(hctrs, flags, value, armed), 0))
		hpm_sbi_start_each(hpm, hctrs, flags, value, armed);
}

/* Starts counters that were not armed, and so have OF = 1; their old values do not matter. */
static inline void hpm_sbi_start(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	hpm->dirty &= ~hctrs;
	hpm_sbi_start_at(hpm, hctrs, SBI_PMU_START_SET_INIT_VALUE, value, false);
}

/* Not inlined, so that callers with delegated counters, which need no firmware call, save no
 * registers for one. */
void hpm_sbi_stop(struct hpm *hpm, uint64_t hctrs);

#endif
