/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests on each hart at boot of the basis of all counts, with the functions and the back end that
 * will drive the guests' counters. Firmware and harts differ, so features that fail here are
 * switched off, and the boot report names them.
 *
 * The tests take about 3,000 instructions per event with the sbi back end, nearly all of them in
 * the firmware.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_exact.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/counters/hpm_silent.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/sbi.h"

#define REFUSES      "a counter that refuses a start or a stop"
#define STANDS_STILL "a counter that stands still"
static void hs_work(void)
{
	for (volatile int i = 0; i < 50; i++)
		;
}

/* Every firmware has this call, and none is cheaper. */
static void m_work(void)
{
	(void)sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0);
}

/* Far from 0, from the wrap, and from likely contents of a counter. */
static uint64_t some_value(const struct hpm *hpm)
{
	return BIT(hpm->width / 2) | 0x55;
}

const char *hpm_selfcheck_begin(struct hpm *hpm, uint32_t hctr, uint32_t event_idx,
                                uint32_t inhibit)
{
	struct hw_event config = {.event_idx = event_idx, .inhibit = inhibit};

	if (hpm->fixed & BIT(hctr) ? !hpm_fixed_take(hpm, hctr, &config)
	                           : !hpm_reprogram(hpm, hctr, &config))
		return "a counter that refuses it";
	hpm_set_and_run(hpm, BIT(hctr), some_value(hpm), false);
	return NULL;
}

/* Returns the stimulus of an event. Cycles and instructions happen with any instruction; for other
 * events the event table may name a stimulus. */
static enum selector_stimulus stimulus_of(const struct hpm *hpm, uint32_t event_idx)
{
	const struct selector_standard *standard =
	    hpm->table ? selector_of_standard(hpm->table, event_idx) : NULL;

	if (event_idx <= SBI_PMU_HW_INSTRUCTIONS)
		return STIMULUS_INSTRUCTIONS;
	return standard ? standard->stimulus : STIMULUS_NONE;
}

/* Runs a guest for a moment, and returns whether the counter behaved as in `moves`. The TLBs are
 * empty each time, so TLB misses happen, too. */
static bool obeys_filter(const struct hpm *hpm, uint32_t hctr, bool user, bool moves)
{
	uint64_t before = hpm_value(hpm, hctr);

	hfence_gvma_all();
	hfence_vvma_all();
	vs_work(user, 1);
	return (hpm_value(hpm, hctr) != before) == moves;
}

/* Checks a running counter with the filter that all guests' counters have. */
static const char *inhibited(const struct hpm *hpm, uint32_t hctr)
{
	uint64_t value = hpm_value(hpm, hctr);

	hs_work();
	if (hpm_value(hpm, hctr) != value)
		return "a counter that counts HS-mode";
	m_work();
	/* This includes M-mode at the end of the start call. */
	if (hpm_value(hpm, hctr) != some_value(hpm))
		return "a counter that counts M-mode, or takes no value";
	return NULL;
}

/* For events with a stimulus. */
static const char *filtered(struct hpm *hpm, uint32_t hctr, uint32_t event_idx)
{
	static const uint32_t filters[] = {HW_INH_VS, HW_INH_VU};
	bool in_vs = obeys_filter(hpm, hctr, false, true);
	bool in_vu = obeys_filter(hpm, hctr, true, true);
	const char *fault;

	if (hpm_silent_events && !in_vs && !in_vu)
		return NULL;
	if (!in_vs || !in_vu)
		return STANDS_STILL;
	if (event_idx == SBI_PMU_HW_INSTRUCTIONS)
		hpm_exact_check_vs(hpm, hctr);
	hpm_stop(hpm, BIT(hctr));
	if (!obeys_filter(hpm, hctr, false, false))
		return "a counter that does not stop";
	for (uint32_t i = 0; i < ARRAY_SIZE(filters); i++) {
		fault = hpm_selfcheck_begin(hpm, hctr, event_idx, filters[i]);
		if (fault)
			return fault;
		if (!obeys_filter(hpm, hctr, false, filters[i] != HW_INH_VS) ||
		    !obeys_filter(hpm, hctr, true, filters[i] != HW_INH_VU))
			return "a counter that does not filter modes";
		hpm_stop(hpm, BIT(hctr));
	}
	return NULL;
}

const char *hpm_selfcheck_event(struct hpm *hpm, uint32_t event_idx, uint32_t hctr)
{
	const char *fault = hpm_selfcheck_begin(hpm, hctr, event_idx, 0);

	if (!fault)
		fault = inhibited(hpm, hctr);
	if (!fault && stimulus_of(hpm, event_idx) != STIMULUS_NONE)
		fault = filtered(hpm, hctr, event_idx);
	hpm_stop(hpm, BIT(hctr));
	return hpm_take_failures(hpm) && !fault ? REFUSES : fault;
}

/* Whether a counter keeps its OF bit, which guests may see, when it is started again. */
static bool resumes(struct hpm *hpm, uint32_t hctr)
{
	bool before = hpm_flag(hctr);

	hpm_stop(hpm, BIT(hctr));
	hpm->shown = BIT(hctr);
	hpm_run(hpm, BIT(hctr));
	hpm->shown = 0;
	return hpm_flag(hctr) == before;
}

static const char *overflows(struct hpm *hpm, uint32_t hctr, uint64_t patience)
{
	uint64_t start = -HPM_TRIAL_PERIOD & (hpm->width < 64 ? BIT(hpm->width) - 1 : ~0UL);

	if (!hpm_flag(hctr))
		return "a start that clears OF where it is to stay";
	hpm_stop(hpm, BIT(hctr));
	hpm_set_and_run(hpm, BIT(hctr), start, true);
	if (hpm->failed)
		return REFUSES;
	if (hpm_flag(hctr) && hpm_value(hpm, hctr) >= start)
		return "a start that leaves OF set";
	if (!hpm_wait_for_lcofi(patience))
		return "an armed counter that does not interrupt";
	if (hpm_take_overflow(hpm) != BIT(hctr) || csr_read(CSR_SIP) & BIT(IRQ_LCOFI))
		return "an overflow without OF, or whose LCOFI stays";
	if (!hpm->ssccfg && !resumes(hpm, hctr))
		return "a start that changes OF of a counter that goes on";
	return NULL;
}

static const char *check_interrupt(struct hpm *hpm, uint32_t event_idx, uint32_t hctr,
                                   uint64_t patience)
{
	const char *fault =
	    hpm_selfcheck_begin(hpm, hctr, event_idx, HW_COUNT_HS | HW_INH_VS | HW_INH_VU);

	if (!fault && hpm_silent_events && obeys_filter(hpm, hctr, false, false))
		fault = STANDS_STILL;
	if (!fault)
		fault = overflows(hpm, hctr, patience);
	hpm_stop(hpm, BIT(hctr));
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (!fault && !hpm->ssccfg)
		fault = hpm_probe_flag_starts(hpm, hctr, patience);
	return hpm_take_failures(hpm) && !fault ? REFUSES : fault;
}

/* Returns a counter of the event, preferably one not in `tried`, to test many. */
static uint32_t any_counter(const struct hpm_event *event, uint64_t tried)
{
	uint64_t fresh = event->hctrs & ~tried;

	return lowest_bit(fresh ? fresh : event->hctrs);
}

void hpm_selfcheck_leave(struct hpm *hpm, uint32_t hctr)
{
	struct hw_event config = hpm->slots[hctr].config;

	if (hpm->delegated || !hpm->ssccfg) {
		hpm_reprogram(hpm, hctr, &config);
	} else {
		hpm_sbi_reset(hctr);
		hpm->slots[hctr].programmed = false;
	}
	hpm->slots[hctr].config = (struct hw_event){0};
}

/* Returns the first fault of an event, or NULL if there is none. */
static const char *check_events(struct hpm *hpm)
{
	const char *first = NULL;
	uint64_t tried = 0;

	for (uint32_t i = 0; i < hpm->n_events; i++) {
		struct hpm_event *event = &hpm->events[i];
		uint32_t hctr = any_counter(event, tried);

		tried |= BIT(hctr);
		event->fault = hpm_selfcheck_event(hpm, event->event_idx, hctr);
		hpm_selfcheck_leave(hpm, hctr);
		if (!first)
			first = event->fault;
	}
	return first;
}

/* Returns the defect that prevents overflow interrupts, or NULL if they work. */
static const char *check_overflow(struct hpm *hpm, uint64_t patience)
{
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		const struct hpm_event *event = &hpm->events[i];
		uint32_t hctr = any_counter(event, 0);
		const char *fault;

		if (event->event_idx > SBI_PMU_HW_INSTRUCTIONS || event->fault)
			continue;
		fault = check_interrupt(hpm, event->event_idx, hctr, patience);
		hpm_selfcheck_leave(hpm, hctr);
		return fault;
	}
	return hpm->n_events ? "no event to try an overflow with" : "no events";
}

/* Whether a guest's next moment advances counter `counts` and not counter `stands`. */
static bool moves_alone(const struct hpm *hpm, uint32_t counts, uint32_t stands, bool user)
{
	uint64_t before = hpm_value(hpm, stands);

	return obeys_filter(hpm, counts, user, true) && hpm_value(hpm, stands) == before;
}

/* Whether one counter can count VS while the other one counts VU. */
static bool are_apart(struct hpm *hpm, uint32_t event_idx, uint32_t hctr_s, uint32_t hctr_u)
{
	bool apart = !hpm_selfcheck_begin(hpm, hctr_s, event_idx, HW_INH_VU) &&
	             !hpm_selfcheck_begin(hpm, hctr_u, event_idx, HW_INH_VS) &&
	             moves_alone(hpm, hctr_s, hctr_u, false) &&
	             moves_alone(hpm, hctr_u, hctr_s, true);

	hpm_stop(hpm, BIT(hctr_s) | BIT(hctr_u));
	hpm_selfcheck_leave(hpm, hctr_s);
	hpm_selfcheck_leave(hpm, hctr_u);
	return !hpm_take_failures(hpm) && apart;
}

bool hpm_selfcheck_filters(struct hpm *hpm)
{
	bool apart = true;

	for (uint32_t i = 0; i < hpm->n_events && apart; i++) {
		const struct hpm_event *event = &hpm->events[i];
		uint64_t rest = event->hctrs & (event->hctrs - 1);

		if (rest && !event->fault && stimulus_of(hpm, event->event_idx) != STIMULUS_NONE)
			apart = are_apart(hpm, event->event_idx, lowest_bit(event->hctrs),
			                  lowest_bit(rest));
	}
	return apart;
}

/* If something fails with delegated counters, the sbi back end is tried. */
void hpm_selfcheck(struct hpm *hpm, uint64_t patience)
{
	const char *fault = check_events(hpm);
	const char *no_overflow;

	if (fault && hpm->delegated) {
		hpm->undelegated = fault;
		hpm->delegated = false;
		fault = check_events(hpm);
	}
	no_overflow = hpm->hs_lcofi ? check_overflow(hpm, patience) : NULL;
	if (no_overflow) {
		hpm->no_overflow = no_overflow;
		hpm->hs_lcofi = hpm->lcofi = false;
	}
	for (uint32_t i = 0; fault && i < hpm->n_events; i++) {
		if (hpm->events[i].fault)
			hpm->events[i].hctrs = 0;
	}
}
