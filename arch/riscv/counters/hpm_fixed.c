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

static void ssccfg_take(uint32_t hctr, uint64_t filter)
{
	csr_set(CSR_SCOUNTINHIBIT, BIT(hctr));
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, filter);
}

bool hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	hpm->slots[hctr].config = *config;
	hpm->armed &= ~BIT(hctr);
	if (!hpm->delegated)
		return sbi_take(hctr, hpm_sbi_filter(config->inhibit));
	ssccfg_take(hctr, hpm_ssccfg_filter(config->inhibit));
	return true;
}

/* Makes the counter count HS again, as after boot. Returns false if the firmware refuses. */
static bool release(struct hpm *hpm, uint32_t hctr)
{
	bool done = false;

	if (hpm->delegated) {
		ssccfg_take(hctr, MHPMEVENT_MINH);
		csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
		return true;
	}
	for (int i = 0; i < 8 && !done; i++)
		done = sbi_take(hctr, 0) && sbi_run(hctr);
	hpm->failed &= ~BIT(hctr);
	hpm->unstarted &= ~BIT(hctr);
	return done;
}

void hpm_fixed_release(struct hpm *hpm, uint64_t hctrs)
{
	/* HS has no other counter for its own work, so it cannot continue without instret. */
	if (hctrs & HCTRS_INSTRET && !release(hpm, HCTR_INSTRET))
		platform_lacks("the firmware does not give instret back: its SBI PMU calls fail");
}

static bool moves_in_hs(uint32_t hctr)
{
	uint64_t before = hpm_read(hctr);

	for (volatile int i = 0; i < 100; i++)
		;
	return hpm_read(hctr) != before;
}

static bool give_back(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	hpm_set_and_run(hpm, BIT(hctr), value, false);
	/* Also if the firmware refuses the filter: HS needs its clock. */
	if (!release(hpm, hctr))
		(void)sbi_run(hctr);
	return moves_in_hs(hctr);
}

/* Without Smcntrpmf the fixed counters have no sireg2. */
static bool has_sireg2(uint32_t hctr)
{
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	return hs_can(csr_write(CSR_SIREG2, MHPMEVENT_MINH));
}

/* Counts a moment in VS, which ends by ECALL. Returns 0 if the counter does not take it. */
static uint64_t moment(struct hpm *hpm, uint32_t hctr)
{
	const char *fault = hpm_selfcheck_begin(hpm, hctr, SBI_PMU_HW_INSTRUCTIONS, 0);
	uint64_t before = hpm_value(hpm, hctr);

	vs_work(false, 1);
	before = hpm_value(hpm, hctr) - before;
	hpm_stop(hpm, BIT(hctr));
	return fault ? 0 : before;
}

/* Whether instret counts as the other counters of instructions do. ECALL does not retire (ISA
 * manual, 3.3.1), and on some harts only some counters leave it out. A hart that counts what others
 * execute, too, as emulators do, counts no moment twice alike: hpm_exact.h finds that. */
static bool counts_alike(struct hpm *hpm, uint64_t others)
{
	uint32_t other;
	uint64_t counted, by_instret;

	if (!others)
		return true;
	other = lowest_bit(others);
	counted = moment(hpm, other);
	by_instret = moment(hpm, HCTR_INSTRET);
	hpm->instret_differs = counted && by_instret && counted != by_instret &&
	                       counted == moment(hpm, other) &&
	                       by_instret == moment(hpm, HCTR_INSTRET);
	hpm_selfcheck_leave(hpm, other);
	return counted && by_instret && !hpm->instret_differs;
}

static bool has_filters(struct hpm *hpm, uint32_t hctr)
{
	const struct hpm_event *event = hpm_event_find(hpm, event_of(hctr));
	uint64_t value = hpm_read(hctr);
	bool works;

	if (!event || event->fault || (hpm->delegated && !has_sireg2(hctr)))
		return false;
	/* Possibly only the firmware can set MINH. It does so whenever it configures a counter. */
	works = sbi_take(hctr, HPM_SBI_GUESTS) && !hpm_selfcheck_event(hpm, event_of(hctr), hctr) &&
	        (hctr == HCTR_CYCLE || counts_alike(hpm, event->hctrs));
	return give_back(hpm, hctr, value) && works;
}

void hpm_fixed_probe(struct hpm *hpm)
{
	uint32_t hctr;

	for_each_bit (hctr, HCTRS_FIXED) {
		uint64_t bit = BIT(hctr);
		uint32_t n = hpm->n_events;

		if (hpm_event_find(hpm, event_of(hctr)) || n == HPM_MAX_EVENTS)
			hpm->fixed_only &= ~bit;
		if (hpm->fixed_only & bit)
			hpm->events[hpm->n_events++] =
			    (struct hpm_event){.event_idx = event_of(hctr)};
		hpm->fixed |= bit;
		if (has_filters(hpm, hctr))
			continue;
		hpm->fixed &= ~bit;
		hpm->n_events = n;
	}
}
