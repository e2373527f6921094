/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the firmware that nearly always are all that a start or a stop is. What is refused
 * is left to hpm_sbi.c.
 */
#ifndef ARCH_HPM_SBI_H
#define ARCH_HPM_SBI_H

#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/sbi.h"

/* Once more for each, since nobody knows how far a call for several of them came. */
void hpm_sbi_start_each(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t value,
                        bool armed);

/*
 * armed: OF is 0 afterwards. Else it is 1, if it was: only for counters that have it.
 *
 * OpenSBI clears OF in start, unless an LCOFI pends. If one does, OF stays as it is up to 1.7, and
 * becomes 1 from 1.8 on. So a pending bit of our own making keeps an OF of 1, and nothing keeps one
 * of 0 but to clear it. HS has interrupts off, so nobody takes that bit meanwhile. The caller has
 * taken what pended; only a counter that counts HS may have made another pend since, which stays
 * for the guest's entry. M-mode counts nowhere.
 */
static inline bool hpm_sbi_start_call(uint64_t mask, uint64_t flags, uint64_t value, bool armed)
{
	uint64_t sip = armed ? csr_read(CSR_SIP) : csr_read_set(CSR_SIP, BIT(IRQ_LCOFI));
	uint64_t pending = sip & BIT(IRQ_LCOFI);

	if (armed && pending)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	long error = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, 0, mask, flags, value, 0).error;
	if (!armed && !pending)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (armed && pending)
		csr_set(CSR_SIP, BIT(IRQ_LCOFI));
	return error == SBI_SUCCESS;
}

static inline bool hpm_sbi_stop_call(uint64_t mask)
{
	long error = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, 0, mask, 0, 0, 0).error;

	return error == SBI_SUCCESS || error == SBI_ERR_ALREADY_STOPPED;
}

static inline void hpm_sbi_start_at(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t value,
                                    bool armed)
{
	if (__builtin_expect(!hpm_sbi_start_call(hctrs, flags, value, armed), 0))
		hpm_sbi_start_each(hpm, hctrs, flags, value, armed);
}

/* Those that were not armed, and so have OF = 1; what they held before does not matter. */
static inline void hpm_sbi_start(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	hpm->fresh &= ~hctrs;
	hpm_sbi_start_at(hpm, hctrs, SBI_PMU_START_SET_INIT_VALUE, value, false);
}

/* Not inline: with delegated counters nothing is called, and so nothing saved, around a stop. */
void hpm_sbi_stop(struct hpm *hpm, uint64_t hctrs);

#endif
