/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two back ends that drive a hart's counters, and the choice between them. For
 * arch/riscv/counters/hpm*.c and the vPMU's port. Accesses to delegated counters take few
 * instructions, so they are inlined. A call of the firmware is always expensive. All functions are
 * for counters of the calling hart.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_BACKEND_H
#define ARCH_RISCV_COUNTERS_HPM_BACKEND_H

#include "arch/riscv/counters/hpm_sbi.h"
#include "arch/riscv/counters/hpm_ssccfg.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/quirks.h"
#include "vpmu/bits.h"

/* Programs a stopped counter with an event and filter. Returns false if the firmware refuses; then
 * the counter has no contents. */
bool hpm_sbi_program(struct hpm *hpm, uint32_t hctr, const struct hw_event *config);

/* Programs a stopped counter with an event or filter that it does not have yet. Returns false if
 * that is refused. */
static inline bool hpm_reprogram(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	struct hpm_slot *slot = &hpm->slots[hctr];
	bool taken = hpm->delegated ? hpm_ssccfg_program(hpm, hctr, config)
	                            : hpm_sbi_program(hpm, hctr, config);

	slot->programmed = true;
	slot->config = *config;
	hpm->armed &= ~BIT(hctr);
	hpm->may_arm &= ~BIT(hctr);
	if (quirk_may_arm(config->event_idx))
		hpm->may_arm |= BIT(hctr);
	if (!taken)
		slot->config.event_idx = 0;
	return taken;
}

/* hpm_fixed_take() gives a fixed counter in hpm->fixed to a guest, stopped, with this filter. It
 * returns false if that is refused. hpm_fixed_release() gives instret back to HS.
 * hpm_fixed_to_hs() makes any fixed counter count HS again, as after boot. It returns false if the
 * firmware refuses. hpm_fixed_configure() stops one, and gives it its event and this filter
 * (SBI_PMU_CFG_*) by the firmware; it returns false if that is refused. */
bool hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hw_event *config);
void hpm_fixed_release(struct hpm *hpm, uint64_t hctrs);
bool hpm_fixed_to_hs(struct hpm *hpm, uint32_t hctr);
bool hpm_fixed_configure(uint32_t hctr, uint64_t flags);

/* hpm_start() for the cases that take more than a few instructions. */
void hpm_start_any(struct hpm *hpm, uint64_t hctrs, uint64_t value);
void hpm_start_armed_any(struct hpm *hpm, uint32_t hctr, uint64_t value);

/* The sbi back end. hpm_take_failures() reports refusals of the firmware. hpm_sbi_start_armed() is
 * only for counters in may_arm. */
void hpm_sbi_set(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed);
void hpm_sbi_run(struct hpm *hpm, uint64_t hctrs);
void hpm_sbi_start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value);

/* A counter that starts above this value raises LCOFI when it wraps. If one starts below it with OF
 * = 0, QEMU may lose the interrupt of its next start, see hpm_sbi.c. */
#define HPM_NEAR (3UL << 62)

/* Starts counters with OF = 0, independent of their contents. */
void hpm_sbi_clear_flags(struct hpm *hpm, uint64_t hctrs, uint64_t value);

/*
 * Sets the value of stopped, programmed counters. armed: OF = 0 if the counter is in may_arm,
 * otherwise OF = 1. hpm_run() must follow at once, and starts them.
 */
static inline void hpm_set(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed)
{
	if (hpm->delegated)
		hpm_ssccfg_set(hpm, hctrs, value, armed);
	else
		hpm_sbi_set(hpm, hctrs, value, armed);
}

static inline void hpm_run(struct hpm *hpm, uint64_t hctrs)
{
	if (hpm->delegated)
		csr_clear(CSR_SCOUNTINHIBIT, hctrs);
	else
		hpm_sbi_run(hpm, hctrs);
}

/* hpm_set(), then hpm_run(). Not inlined, so that callers save registers only there. */
void hpm_set_and_run(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed);

/* hpm_set() without `armed`, then hpm_run(). */
static inline void hpm_start(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	uint32_t i;

	if (!hpm->delegated || hpm->armed & hctrs) {
		hpm_start_any(hpm, hctrs, value);
		return;
	}
	for_each_bit (i, hctrs) {
		csr_write(CSR_SISELECT, SISELECT_COUNTER0 + i);
		csr_write(CSR_SIREG, value);
	}
	csr_clear(CSR_SCOUNTINHIBIT, hctrs);
}

/* hpm_set() with `armed`, then hpm_run(). */
static inline void hpm_start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	if (hpm->delegated && hpm->may_arm >> hctr & 1)
		hpm_ssccfg_start_armed(hpm, hctr, value);
	else
		hpm_start_armed_any(hpm, hctr, value);
}

static inline void hpm_stop(struct hpm *hpm, uint64_t hctrs)
{
	if (hpm->delegated)
		csr_set(CSR_SCOUNTINHIBIT, hctrs);
	else
		hpm_sbi_stop(hpm, hctrs);
}

/* Reads a counter that was programmed by hpm_reprogram(), running or stopped. */
static inline uint64_t hpm_value(const struct hpm *hpm, uint32_t hctr)
{
	if (!hpm->delegated)
		return hpm_read(hctr);
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	return csr_read(CSR_SIREG);
}

/* For delegated counters: see vpmu_port_step(). */
static inline uint64_t hpm_step(uint32_t hctr, uint64_t last, uint64_t *value)
{
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	*value = csr_read(CSR_SIREG);
	if (*value == last)
		return BIT(hctr);
	*value += 1;
	csr_write(CSR_SIREG, *value);
	return 0;
}

#endif
