/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed counters, cycle and instret, which have neither a selector nor OF. HS measures its own
 * work with instret, which runs from boot on without a filter. Between take and release it belongs
 * to a guest and does not count in HS. Only guests use cycle.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/sbi.h"
#include "arch/riscv/hart/trap.h"
#include "core/panic.h"

/* UINH and SINH exclude HS itself, as in hpm_sbi_program(). */
static uint32_t event_of(uint32_t hctr)
{
	return hctr == HCTR_CYCLE ? SBI_PMU_HW_CPU_CYCLES : SBI_PMU_HW_INSTRUCTIONS;
}

static bool sbi_take(uint32_t hctr, uint64_t flags)
{
	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, hctr, 1, 0, 0, 0);
	return hpm_sbi_configure(hctr, flags, event_of(hctr), 0);
}

static bool sbi_run(uint32_t hctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, hctr, 1, 0, 0, 0).error == SBI_SUCCESS;
}

/* Also sets MINH, as in hpm_ssccfg.h. */
static void ssccfg_take(uint32_t hctr, uint64_t filter)
{
	csr_set(CSR_SCOUNTINHIBIT, BIT(hctr));
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, filter | MHPMEVENT_MINH);
}

bool hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	uint64_t flags = HPM_SBI_GUESTS;
	uint64_t filter = MHPMEVENT_SINH | MHPMEVENT_UINH;

	hpm->slots[hctr].config = *config;
	hpm->armed &= ~BIT(hctr);
	if (config->inhibit & HW_INH_VS) {
		flags |= SBI_PMU_CFG_FLAG_SET_VSINH;
		filter |= MHPMEVENT_VSINH;
	}
	if (config->inhibit & HW_INH_VU) {
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH;
		filter |= MHPMEVENT_VUINH;
	}
	if (!hpm->delegated)
		return sbi_take(hctr, flags);
	ssccfg_take(hctr, filter);
	return true;
}

/* HS has no other counter for its own work, so it cannot continue without instret. */
static void sbi_release(uint32_t hctr)
{
	for (int i = 0; i < 8; i++) {
		if (sbi_take(hctr, 0) && sbi_run(hctr))
			return;
	}
	platform_lacks("the firmware does not give instret back: its SBI PMU calls fail");
}

void hpm_fixed_release(struct hpm *hpm, uint64_t hctrs)
{
	if (!(hctrs & HCTRS_INSTRET))
		return;
	if (hpm->delegated) {
		ssccfg_take(HCTR_INSTRET, 0);
		csr_clear(CSR_SCOUNTINHIBIT, HCTRS_INSTRET);
	} else {
		sbi_release(HCTR_INSTRET);
		hpm->failed &= ~HCTRS_INSTRET;
	}
}

static bool moves_in_hs(uint32_t hctr)
{
	uint64_t before = hpm_read(hctr);

	for (volatile int i = 0; i < 100; i++)
		;
	return hpm_read(hctr) != before;
}

/* Makes the counter count HS again, as after boot. */
static bool give_back(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	hpm_set(hpm, BIT(hctr), value, false);
	hpm_run(hpm, BIT(hctr));
	if (hpm->delegated) {
		ssccfg_take(hctr, 0);
		csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
	} else {
		sbi_take(hctr, 0);
		sbi_run(hctr);
		hpm->failed &= ~BIT(hctr);
	}
	return moves_in_hs(hctr);
}

/* Without Smcntrpmf the fixed counters have no sireg2. */
static bool has_sireg2(uint32_t hctr)
{
	struct trap_guard guard;

	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	trap_guard_begin(&guard);
	csr_write(CSR_SIREG2, MHPMEVENT_MINH);
	return trap_guard_end(&guard) == ~0UL;
}

static bool has_filters(struct hpm *hpm, uint32_t hctr)
{
	const struct hpm_event *event = hpm_event_find(hpm, event_of(hctr));
	uint64_t value = hpm_read(hctr);
	bool works;

	if (!event || event->fault || (hpm->delegated && !has_sireg2(hctr)))
		return false;
	/* Possibly only the firmware can set MINH. It does so whenever it configures a counter. */
	works = sbi_take(hctr, HPM_SBI_GUESTS) && !hpm_selfcheck_event(hpm, event_of(hctr), hctr);
	return give_back(hpm, hctr, value) && works;
}

void hpm_fixed_probe(struct hpm *hpm)
{
	static const uint32_t hctrs[] = {HCTR_CYCLE, HCTR_INSTRET};

	for (uint32_t i = 0; i < ARRAY_SIZE(hctrs); i++) {
		uint64_t bit = BIT(hctrs[i]);
		uint32_t n = hpm->n_events;

		if (hpm_event_find(hpm, event_of(hctrs[i])) || n == HPM_MAX_EVENTS)
			hpm->fixed_only &= ~bit;
		if (hpm->fixed_only & bit)
			hpm->events[hpm->n_events++] =
			    (struct hpm_event){.event_idx = event_of(hctrs[i])};
		hpm->fixed |= bit;
		if (has_filters(hpm, hctrs[i]))
			continue;
		hpm->fixed &= ~bit;
		hpm->n_events = n;
	}
}
