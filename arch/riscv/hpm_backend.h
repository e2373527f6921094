/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ways to drive a hart's counters, and the choice between them: for arch/riscv/hpm*.c and
 * the port of the vPMU. What is delegated takes so few instructions that it is inline; a call to
 * the firmware is never cheap. All counters named are this hart's.
 */
#ifndef ARCH_HPM_BACKEND_H
#define ARCH_HPM_BACKEND_H

#include "arch/riscv/csr.h"
#include "arch/riscv/hpm_sbi.h"
#include "arch/riscv/hpm_ssccfg.h"
#include "arch/riscv/quirks.h"
#include "vpmu/bits.h"

/* A stopped counter takes up event and filter. false: refused, it holds nothing. */
bool hpm_sbi_program(struct hpm *hpm, uint32_t hctr, const struct hw_event *config);

/* A stopped counter takes up another event or filter than it holds. false: refused. */
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

/* The same for who is in no hurry. */
bool hpm_try(struct hpm *hpm, uint32_t hctr, const struct hw_event *config);

/* A fixed counter of hpm->fixed becomes a guest's, stopped, with this filter; false: refused. And
 * instret is HS's again. */
bool hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hw_event *config);
void hpm_fixed_release(struct hpm *hpm, uint64_t hctrs);

/* hpm_start() where it is not a matter of a few instructions. */
void hpm_start_any(struct hpm *hpm, uint64_t hctrs, uint64_t value);
void hpm_start_armed_any(struct hpm *hpm, uint32_t hctr, uint64_t value);

/* What the firmware refuses of these is told by hpm_failures(). Armed: one that may be. */
void hpm_sbi_set(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed);
void hpm_sbi_run(struct hpm *hpm, uint64_t hctrs);
void hpm_sbi_start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value);

/* A counter that is started above this interrupts; one that is started below may, on QEMU, cost the
 * interrupt of its next start unless OF = 1, see hpm_sbi.c. */
#define HPM_NEAR (3UL << 62)

/* Starts counters with OF = 0, whatever follows from that. */
void hpm_sbi_clear_flags(struct hpm *hpm, uint64_t hctrs, uint64_t value);

/*
 * Stopped, programmed counters get a value. armed: OF = 0 where the platform bears it, else
 * OF = 1. They run after hpm_run(), which is to follow at once.
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

/* hpm_set(), not armed, and hpm_run() in one. */
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

/* hpm_set(), armed, and hpm_run() in one. */
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

/* A counter of hpm_reprogram(), running or stopped. */
static inline uint64_t hpm_value(const struct hpm *hpm, uint32_t hctr)
{
	if (!hpm->delegated)
		return hpm_read(hctr);
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	return csr_read(CSR_SIREG);
}

/* See vpmu_port_step_read() and vpmu_port_step(); with delegated counters. */
static inline uint64_t hpm_step_read(uint32_t hctr, uint64_t last, uint64_t *value)
{
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	*value = csr_read(CSR_SIREG);
	if (*value == last)
		return BIT(hctr);
	*value += 1;
	csr_write(CSR_SIREG, *value);
	return 0;
}

static inline uint64_t hpm_step(uint64_t hctrs, uint64_t last)
{
	uint64_t left = 0;
	uint64_t value;
	uint32_t i;

	for_each_bit (i, hctrs)
		left |= hpm_step_read(i, last, &value);
	return left;
}

#endif
