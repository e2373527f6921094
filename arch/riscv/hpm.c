/* SPDX-License-Identifier: Apache-2.0 */
/* What both back ends share: which counter holds what, reads, and overflow flags. */
#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/hpm_raw.h"
#include "arch/riscv/quirks.h"
#include "vpmu/sbi_pmu.h"
#include "vpmu/bits.h"

static bool same_config(const struct hpm_config *a, const struct hpm_config *b)
{
	return a->event_idx == b->event_idx && a->inhibit == b->inhibit &&
	       a->event_data == b->event_data;
}

const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx)
{
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		if (hpm->events[i].event_idx == event_idx)
			return &hpm->events[i];
	}
	return NULL;
}

uint64_t hpm_event_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data)
{
	const struct hpm_event *event = hpm_event_find(hpm, event_idx);

	if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW ||
	    SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW_V2)
		return hpm_raw_hctrs(hpm, event_idx, event_data);

	return event && event_data == 0 ? event->hctrs : 0;
}

bool hpm_program(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	struct hpm_slot *slot = &hpm->slots[hctr];

	if (slot->programmed && same_config(&slot->config, config))
		return true;
	slot->programmed = hpm->backend->program(hpm, hctr, config);
	slot->config = *config;
	/* No value is held now: hpm_holds() must not believe an old one. */
	slot->armed = false;
	slot->value = ~0UL;
	return slot->programmed;
}

bool hpm_holds(const struct hpm *hpm, uint32_t hctr, const struct hpm_config *config,
               uint64_t value, bool armed)
{
	const struct hpm_slot *slot = &hpm->slots[hctr];

	return slot->programmed && same_config(&slot->config, config) && slot->value == value &&
	       slot->armed == (armed && quirk_may_arm(config->event_idx)) && value != ~0UL;
}

bool hpm_start(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config, uint64_t value,
               bool armed)
{
	armed = armed && quirk_may_arm(config->event_idx);
	if (!hpm_program(hpm, hctr, config))
		return false;
	hpm->slots[hctr].armed = armed;
	hpm->armed = armed ? hpm->armed | BIT(hctr) : hpm->armed & ~BIT(hctr);
	hpm->running |= BIT(hctr);
	hpm->backend->start(hpm, hctr, value, armed);
	return true;
}

void hpm_resume(struct hpm *hpm, uint64_t hctr_mask)
{
	uint64_t armed = 0;

	for (uint64_t left = hctr_mask; left; left &= left - 1) {
		if (hpm->slots[lowest_bit(left)].armed)
			armed |= left & -left;
	}
	hpm->running |= hctr_mask;
	hpm->armed = (hpm->armed & ~hctr_mask) | armed;
	if (armed)
		hpm->backend->resume(armed, true);
	if (hctr_mask & ~armed)
		hpm->backend->resume(hctr_mask & ~armed, false);
}

void hpm_stop(struct hpm *hpm, uint64_t hctr_mask)
{
	hpm->backend->stop(hctr_mask);
	hpm->running &= ~hctr_mask;
	for (uint64_t left = hctr_mask; left; left &= left - 1) {
		uint32_t hctr = lowest_bit(left);

		hpm->slots[hctr].value = hpm_read(hctr);
	}
}

uint64_t hpm_take_overflow(const struct hpm *hpm)
{
	if (!(csr_read(CSR_SIP) & BIT(IRQ_LCOFI)))
		return 0;
	/* First the pending bit, then the flags: this order loses no overflow. */
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	return csr_read(CSR_SCOUNTOVF) & hpm->armed & hpm->running;
}

/* A CSR number is part of the instruction, so each counter has its own: 8 bytes a counter. */
uint64_t hpm_read(uint32_t hctr)
{
	uint64_t value, target;

	__asm__ volatile(".option push\n"
	                 ".option norvc\n"
	                 "	la	%1, 1f\n"
	                 "	slli	%0, %2, 3\n"
	                 "	add	%1, %1, %0\n"
	                 "	jr	%1\n"
	                 "1:\n"
	                 ".set i, 0\n"
	                 ".rept 32\n"
	                 "	csrr	%0, 0xc00 + i\n"
	                 "	j	2f\n"
	                 ".set i, i + 1\n"
	                 ".endr\n"
	                 "2:\n"
	                 ".option pop\n"
	                 : "=&r"(value), "=&r"(target)
	                 : "r"((uint64_t)hctr & 31UL));
	return value;
}
