/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot's trial of the fixed counters. Guests get one if it has filters, and, for instret, if it
 * counts instructions as the other counters do. Afterwards it counts HS again.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/sbi.h"
#include "arch/riscv/hart/trap.h"

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
	if (!hpm_fixed_to_hs(hpm, hctr))
		sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, hctr, 1, 0, 0, 0);
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
 * manual, 3.3.1), and on some harts only some counters leave it out. Counts that are wrong alone
 * are not compared: emulators' may be those of the host's clock, so harts that are alike would
 * differ by chance. A hart that counts what others execute, too, counts no moment twice alike. */
static bool counts_alike(struct hpm *hpm, uint64_t others)
{
	uint32_t other;
	uint64_t counted, by_instret;

	if (!others || hpm->inexact.where)
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
	const struct hpm_event *event = hpm_event_find(hpm, hpm_event_of(hctr));
	uint64_t value = hpm_read(hctr);
	bool works;

	if (!event || event->fault || (hpm->delegated && !has_sireg2(hctr)))
		return false;
	/* Possibly only the firmware can set MINH. It does so whenever it configures a counter. */
	works = hpm_fixed_configure(hctr, HPM_SBI_GUESTS) &&
	        !hpm_selfcheck_event(hpm, hpm_event_of(hctr), hctr) &&
	        (hctr == HCTR_CYCLE || counts_alike(hpm, event->hctrs));
	return give_back(hpm, hctr, value) && works;
}

void hpm_fixed_probe(struct hpm *hpm)
{
	uint32_t hctr;

	for_each_bit (hctr, HCTRS_FIXED) {
		uint64_t bit = BIT(hctr);
		uint32_t n = hpm->n_events;

		if (hpm_event_find(hpm, hpm_event_of(hctr)) || n == HPM_MAX_EVENTS)
			hpm->fixed_only &= ~bit;
		if (hpm->fixed_only & bit)
			hpm->events[hpm->n_events++] =
			    (struct hpm_event){.event_idx = hpm_event_of(hctr)};
		hpm->fixed |= bit;
		if (has_filters(hpm, hctr))
			continue;
		hpm->fixed &= ~bit;
		hpm->n_events = n;
	}
}
