/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the counters and events of this hart by SBI calls. Once, at boot. */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/counters/hpm_table.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"
#include "arch/riscv/hart/trap.h"

extern const char vs_scountovf_at[]; /* vs_run.S */

/* Finds the counters 3..31 that have a CSR, and the width of the narrowest. Without `cycle` no
 * counter is used, because Tally times its polls by it. */
static void find_counters(struct hpm *hpm)
{
	uint64_t n = sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;

	hpm->width = 64;
	for (uint32_t i = 3; i < 32 && i < n; i++) {
		uint32_t width;

		if (!hpm_sbi_has_counter(i, &width))
			continue;
		if (!hs_can((void)hpm_read(i))) {
			hpm->unreadable |= BIT(i);
			continue;
		}
		hpm->hctrs |= BIT(i);
		if (width < hpm->width)
			hpm->width = width;
	}
	if (!csr_is_readable(CSR_CYCLE)) {
		hpm->unreadable |= BIT(HCTR_CYCLE);
		hpm->hctrs = 0;
	}
}

/* Configures one counter from `first` on that is in `hctrs` (bit 0 is `first`). */
static struct sbi_ret firmware_configure(uint32_t event_idx, uint64_t first, uint64_t hctrs,
                                         uint64_t flags)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, first, hctrs, flags,
	                event_idx, 0);
}

/*
 * OpenSBI may configure and return a fixed counter that is not in the mask. HS measures its own
 * work with instret, so instret gets back its value and must not have the filters of a guest.
 */
static void give_back(uint32_t event_idx, uint64_t fixed, uint64_t value)
{
	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, fixed, 1, 0, 0, 0);
	firmware_configure(event_idx, fixed, 1, 0);
	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, fixed, 1, SBI_PMU_START_SET_INIT_VALUE, value,
	         0);
}

static struct sbi_ret try_set(struct hpm *hpm, uint32_t event_idx, uint64_t first, uint64_t hctrs)
{
	uint64_t value =
	    event_idx == SBI_PMU_HW_INSTRUCTIONS ? csr_read(CSR_INSTRET) : csr_read(CSR_CYCLE);
	struct sbi_ret ret = firmware_configure(event_idx, first, hctrs, HPM_SBI_GUESTS);

	if (ret.error == SBI_SUCCESS && (ret.value == HCTR_CYCLE || ret.value == HCTR_INSTRET)) {
		give_back(event_idx, ret.value, value);
		hpm->fixed_only |= BIT(ret.value);
	}
	return ret;
}

static bool try_event(struct hpm *hpm, uint32_t event_idx, uint32_t hctr)
{
	struct sbi_ret ret = try_set(hpm, event_idx, hctr, 1);

	return ret.error == SBI_SUCCESS && ret.value == hctr;
}

/* One call for all counters, none of which is in use, because most events have no counter. Leaves
 * all counters reset. */
static bool any_counts(struct hpm *hpm, uint32_t event_idx, uint64_t hctrs)
{
	struct sbi_ret ret = try_set(hpm, event_idx, 0, hctrs);

	if (ret.error == SBI_SUCCESS && ret.value < 32 && hctrs >> ret.value & 1)
		hpm_sbi_reset(ret.value);
	return ret.error != SBI_ERR_NOT_SUPPORTED;
}

/* Finds the counters for the event, and its selector. With a table, uses only its events on its
 * counters. Leaves all counters reset. */
static void learn_event(struct hpm *hpm, uint32_t event_idx)
{
	const struct selector_standard *standard =
	    hpm->table ? selector_of_standard(hpm->table, event_idx) : NULL;
	uint64_t hctrs = hpm->hctrs & (standard ? standard->hctrs : ~0UL);
	struct hpm_event *event = &hpm->events[hpm->n_events];
	uint32_t hctr;

	if (hpm->n_events == HPM_MAX_EVENTS || (hpm->table && !standard))
		return;
	*event = (struct hpm_event){
	    .event_idx = event_idx,
	    .selector = standard ? standard->selector : 0,
	};
	if (!any_counts(hpm, event_idx, hctrs))
		hctrs = 0;
	for_each_bit (hctr, hctrs) {
		if (!try_event(hpm, event_idx, hctr))
			continue;
		event->hctrs |= BIT(hctr);
		if (hpm->ssccfg) {
			csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
			event->selector = csr_read(CSR_SIREG2) & MHPMEVENT_SELECTOR;
		}
		hpm_sbi_reset(hctr);
	}
	if (!event->hctrs) {
		if (event_idx <= SBI_PMU_HW_INSTRUCTIONS)
			try_set(hpm, event_idx, hpm_fixed_of(event_idx), 1);
		return;
	}
	event->raw = event->selector && hpm_raw_is_taken(event->selector, event->hctrs);
	hpm->n_events++;
}

static void find_events(struct hpm *hpm)
{
	for (uint32_t code = 1; code <= SBI_PMU_HW_EVENT_LAST; code++)
		learn_event(hpm, code);
	for (uint32_t code = 0; code >> 3 <= SBI_PMU_CACHE_ID_LAST; code++) {
		if (hw_event_exists(SBI_PMU_TYPE_CACHE << 16 | code))
			learn_event(hpm, SBI_PMU_TYPE_CACHE << 16 | code);
	}
}

/* Assigns to each event the lowest counter that can count it and has no other event. */
static void assign_homes(struct hpm *hpm)
{
	uint64_t taken = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < hpm->n_events; i++) {
		uint64_t free = hpm->events[i].hctrs & ~taken;

		if (!free && !hpm->events[i].fault)
			continue; /* no counter is left, so the event cannot be counted */
		hpm->events[i].hctrs = free & -free;
		taken |= hpm->events[i].hctrs;
		hpm->events[kept++] = hpm->events[i];
	}
	hpm->n_events = kept;
}

/* Whether each event must stay on one counter. If no event can use two counters, this cannot be
 * tested, and is assumed for delegated counters, because a count after a change of events might be
 * silently wrong. The firmware's RESET makes a counter usable for any event. */
static bool wants_home_counters(const struct hpm *hpm)
{
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		uint64_t first = hpm->events[i].hctrs;
		uint64_t rest = first & (first - 1);

		if (rest)
			return quirk_one_counter_per_event(hpm->events[i].event_idx,
			                                   lowest_bit(first), lowest_bit(rest));
	}
	return hpm->delegated;
}

/* Whether menvcfg.CDE is set. Only then siselect 0x40 + n accesses a counter. */
static bool probe_ssccfg(uint32_t hctr)
{
	struct trap_guard guard = trap_guard_begin();

	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	(void)csr_read_guarded(CSR_SIREG2);
	(void)csr_read_guarded(CSR_SCOUNTINHIBIT);
	return trap_guard_end(&guard) == ~0UL;
}

/* Tests writes, because a counter that can be read need not be writable. It is not in use yet, and
 * stays stopped. */
static bool probe_delegated_writes(uint32_t hctr)
{
	struct trap_guard guard = trap_guard_begin();
	uint64_t value;

	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_set(CSR_SCOUNTINHIBIT, BIT(hctr));
	csr_write(CSR_SIREG2, MHPMEVENT_OF | MHPMEVENT_MINH);
	csr_write(CSR_SIREG, HPM_NEAR);
	value = csr_read_guarded(CSR_SIREG);
	return trap_guard_end(&guard) == ~0UL && value == HPM_NEAR;
}

/* Whether HS has LCOFI: a pending one must end VS at once, and must still be pending after a write
 * to hvip. On QEMU 10 that write clears it while hvien.13 is 0. */
static bool probe_hs_lcofi(void)
{
	bool comes;

	csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	csr_set(CSR_SIP, BIT(IRQ_LCOFI));
	csr_write(CSR_HVIP, 0);
	comes = vs_run((uint64_t)vs_scountovf_at, 0, 0, 0).scause == (CAUSE_INTERRUPT | IRQ_LCOFI);
	csr_clear(CSR_SIE, BIT(IRQ_LCOFI));
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	return comes;
}

/* Whether a guest can have LCOFI: bit 13 of hvien (Ssaia) and of sie must be writable. */
static bool probe_lcofi(struct hpm *hpm)
{
	uint64_t sie = csr_read(CSR_SIE);
	bool works;

	csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	works = csr_read(CSR_SIE) & BIT(IRQ_LCOFI);
	csr_write(CSR_SIE, sie);
	struct trap_guard guard = trap_guard_begin();
	uint64_t hvien = csr_read_guarded(CSR_HVIEN);
	if (trap_guard_end(&guard) != ~0UL) {
		hpm->no_overflow = "no access to hvien (mstateen0.AIA is 0)";
		return false;
	}
	/* The bit stays set: while it is 0, a write to hvip may clear a physical LCOFI. */
	csr_set(CSR_HVIEN, BIT(IRQ_LCOFI));
	if (!(csr_read(CSR_HVIEN) & BIT(IRQ_LCOFI))) {
		csr_write(CSR_HVIEN, hvien);
		works = false;
	}
	quirks.no_lcofi = !works;
	/* While HS handles an overflow, the guest's timer interrupt may become pending, which has
	 * the higher priority by default. Then the guest would sample its timer handler. On a real
	 * machine it would have taken LCOFI first. */
	csr_write(CSR_HVIPRIO1, HVIPRIO1_LCOFI_FIRST);
	return works;
}

/*
 * The firmware's RESET clears MINH, and its configuration sets it. So the firmware's last action on
 * a counter must be to configure it. Otherwise the counter may count M-mode under the ssccfg back
 * end.
 */
static void configure_all(struct hpm *hpm)
{
	uint64_t done = 0;
	uint32_t hctr;

	for (uint32_t i = 0; i < hpm->n_events; i++) {
		for_each_bit (hctr, hpm->events[i].hctrs & ~done) {
			if (try_event(hpm, hpm->events[i].event_idx, hctr))
				hpm->minh_hctrs |= BIT(hctr);
			/* No guest uses this filter, so the counter must be reset before use. */
			hpm->slots[hctr].programmed = true;
		}
		done |= hpm->events[i].hctrs;
	}
	if (hpm->delegated && hpm->table_raw) {
		done = hpm_table_configure(hpm, hpm->hctrs & ~done);
		for_each_bit (hctr, done)
			hpm->slots[hctr].programmed = true;
		hpm->minh_hctrs |= done;
	}
}

void hpm_init(struct hpm *hpm, bool sscofpmf, enum hpm_choice choice, uint64_t patience,
              const struct selectors *table)
{
	bool homes;

	*hpm = (struct hpm){.width = 64, .table = table};
	/* Without Sscofpmf a programmable counter has no filters, and would count HS and other
	 * guests. */
	if (!sscofpmf || !sbi_probe(SBI_EXT_PMU))
		return;
	find_counters(hpm);
	if (!hpm->hctrs)
		return;
	hpm->ssccfg = probe_ssccfg(lowest_bit(hpm->hctrs));
	if (hpm->ssccfg && !probe_delegated_writes(lowest_bit(hpm->hctrs)))
		hpm->undelegated = "delegated counters that cannot be written";
	quirks.wfi_recounts |= quirk_wfi_recounts();
	hpm->lcofi = probe_lcofi(hpm);
	hpm->hs_lcofi = probe_hs_lcofi();
	hpm->lcofi &= hpm->hs_lcofi;
	if (hpm->lcofi)
		quirk_probe_unmask();
	/* This configures and resets each counter, which also clears old OF bits. */
	find_events(hpm);
	if (table)
		hpm_table_check(hpm);
	hpm->delegated = hpm->ssccfg && !hpm->undelegated && choice != HPM_SBI;
	homes = wants_home_counters(hpm);
	quirks.home_counters |= homes;
	if (homes)
		assign_homes(hpm);
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	/* If guests see the hart's own OF bits, all of them are 1 from here on: configuring sets
	 * OF, and no counter is armed. So they show guests nothing until hpm_show_flags(). */
	if (hpm->delegated || !hpm->ssccfg)
		configure_all(hpm);
	hpm_selfcheck(hpm, patience);
	if (!homes && !hpm_selfcheck_filters(hpm)) {
		quirks.home_counters = true;
		assign_homes(hpm);
	}
	hpm->flags_hidden = !hpm->ssccfg && hpm_probe_flags_hidden(hpm);
	quirks.scountovf_leaks |= !hpm->ssccfg && !hpm->flags_hidden;
	hpm_fixed_probe(hpm);
}
