/* SPDX-License-Identifier: Apache-2.0 */
/* Common to both back ends: the contents of the counters, reads, and overflow flags. */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/hart/csr.h"

const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx)
{
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		if (hpm->events[i].event_idx == event_idx)
			return &hpm->events[i];
	}
	return NULL;
}

uint64_t hpm_event_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data, uint64_t running)
{
	const struct hpm_event *event;

	if (hw_event_is_raw(event_idx))
		return hpm_raw_hctrs(hpm, event_idx, event_data, running);
	event = hpm_event_find(hpm, event_idx);
	if (!event || event_data != 0)
		return 0;
	/* OF of counters that are not armed is always 1, so it must not be shown. Fixed counters
	 * have no OF. */
	if (hpm->hart_flags && !hpm->flags_hidden)
		return quirk_may_arm(event_idx) ? event->hctrs : 0;
	if (event_idx > SBI_PMU_HW_INSTRUCTIONS)
		return event->hctrs;
	return event->hctrs | (hpm->fixed & BIT(hpm_fixed_of(event_idx)));
}

__attribute__((noinline)) void hpm_set_and_run(struct hpm *hpm, uint64_t hctrs, uint64_t value,
                                               bool armed)
{
	hpm_set(hpm, hctrs, value, armed);
	hpm_run(hpm, hctrs);
}

/* Starts counters with hart_flags, if unarmed starts are far from the wrap. OF is 0 if possible, as
 * the guest must see it. */
static void start_shown(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	uint64_t silent = hctrs & ~hpm->may_arm, far = hctrs & hpm->may_arm;

	if (far) {
		hpm->dirty &= ~far;
		hpm->armed |= far;
		hpm->far |= far;
		hpm_sbi_start_at(hpm, far, SBI_PMU_START_SET_INIT_VALUE, value, true);
	}
	if (silent)
		hpm_sbi_start(hpm, silent, value);
}

__attribute__((noinline)) void hpm_start_any(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	if (hpm->hart_flags)
		start_shown(hpm, hctrs, value);
	else if (!hpm->delegated && !(hpm->armed & hctrs))
		hpm_sbi_start(hpm, hctrs, value);
	else
		hpm_set_and_run(hpm, hctrs, value, false);
}

__attribute__((noinline)) void hpm_start_armed_any(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	if (!hpm->delegated && !(hpm->far & BIT(hctr)) && hpm->may_arm & BIT(hctr))
		hpm_sbi_start_armed(hpm, hctr, value);
	else
		hpm_set_and_run(hpm, BIT(hctr), value, true);
}

uint64_t hpm_take_overflow(const struct hpm *hpm)
{
	/* The pending bit is cleared before the OF bits are read, so that no overflow is lost. */
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	return csr_read(CSR_SCOUNTOVF) & hpm->armed;
}

#ifdef __riscv
/* The CSR number is part of the instruction, so each counter has its own code of 8 bytes. */
__asm__("	.text\n"
        "	.globl	hpm_read_a0\n"
        "hpm_read_a0:\n"
        "	.option push\n"
        "	.option norvc\n"
        "2:	auipc	t0, %pcrel_hi(1f)\n"
        "	slli	a0, a0, 3\n"
        "	add	t0, t0, a0\n"
        "	jr	%pcrel_lo(2b)(t0)\n"
        "1:\n"
        "	.set	i, 0\n"
        "	.rept	32\n"
        "	csrr	a0, 0xc00 + i\n"
        "	jr	t1\n"
        "	.set	i, i + 1\n"
        "	.endr\n"
        "	.option pop\n");
#endif
