/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/counters/hpm_table.h"

#include "arch/riscv/counters/hpm_sbi.h"
#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/csr.h"
#include "vpmu/bits.h"

/* Only the first contradiction is reported. The others often follow from it. `found` may be that
 * there is none. */
static void contradict(struct hpm *hpm, struct hpm_contradiction found)
{
	if (hpm->contradiction.kind == HPM_AGREES && found.kind != HPM_AGREES)
		hpm->contradiction = found;
}

static void check_counters(struct hpm *hpm)
{
	uint64_t missing = 0;
	uint32_t i, width;

	for (i = 0; i < hpm->table->n_runs; i++)
		missing |= hpm->table->runs[i].hctrs;
	for (i = 0; i < hpm->table->n_standard; i++)
		missing |= hpm->table->standard[i].hctrs;
	missing &= ~hpm->hctrs;
	for_each_bit (i, missing) {
		if (!(BIT(i) & HCTRS_FIXED) || !hpm_sbi_has_counter(i, &width))
			contradict(hpm,
			           (struct hpm_contradiction){.kind = HPM_NO_COUNTER, .hctr = i});
	}
}

static void check_standard(struct hpm *hpm)
{
	for (uint32_t i = 0; i < hpm->table->n_standard; i++) {
		const struct selector_standard *standard = &hpm->table->standard[i];
		const struct hpm_event *event = hpm_event_find(hpm, standard->event_idx);
		uint64_t refused = standard->hctrs & hpm->hctrs & ~(event ? event->hctrs : 0);
		struct hpm_contradiction found = {
		    .event_idx = standard->event_idx,
		    .selector = standard->selector,
		};

		/* There is no room for more events, so the firmware was not asked for this one. */
		if (!event && hpm->n_events == HPM_MAX_EVENTS)
			continue;
		if (event && hpm->ssccfg && event->selector != standard->selector) {
			found.kind = HPM_KEEPS;
			found.hctr = lowest_bit(event->hctrs);
			found.kept = event->selector;
		} else if (refused) {
			found.kind = HPM_REFUSES;
			found.hctr = lowest_bit(refused);
		}
		contradict(hpm, found);
	}
}

static struct hpm_contradiction ask(const struct hpm *hpm, uint32_t event_idx, uint64_t selector,
                                    uint32_t hctr)
{
	struct hpm_contradiction found = {.hctr = hctr, .selector = selector};

	if (!hpm_sbi_configure(hctr, HPM_SBI_GUESTS, event_idx, selector)) {
		found.kind = HPM_REFUSES;
		return found;
	}
	if (hpm->ssccfg) {
		csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
		found.kept = csr_read(CSR_SIREG2) & MHPMEVENT_SELECTOR;
		if (found.kept != selector)
			found.kind = HPM_KEEPS;
	}
	hpm_sbi_reset(hctr);
	return found;
}

static void check_raw(struct hpm *hpm)
{
	struct hpm_contradiction refused = {.kind = HPM_AGREES};
	uint32_t hctr, event_idx;

	for (uint32_t i = 0; i < hpm->table->n_runs; i++) {
		const struct selector_run *run = &hpm->table->runs[i];
		uint32_t number = run->first;

		for_each_bit (hctr, run->hctrs & hpm->hctrs) {
			uint64_t selector = selector_single(hpm->table, run, number);
			struct hpm_contradiction found;

			number = number == run->last ? run->first : number + 1;
			event_idx = hpm_firmware_event(SBI_PMU_TYPE_RAW_V2 << 16, selector);
			if (event_idx == HPM_NO_RAW)
				continue;
			found = ask(hpm, event_idx, selector, hctr);
			if (found.kind != HPM_REFUSES) {
				contradict(hpm, found);
				hpm->table_raw = true;
			} else if (refused.kind == HPM_AGREES) {
				refused = found;
			}
		}
	}
	if (hpm->table_raw)
		contradict(hpm, refused);
}

void hpm_table_check(struct hpm *hpm)
{
	check_counters(hpm);
	check_standard(hpm);
	check_raw(hpm);
}

uint64_t hpm_table_configure(const struct hpm *hpm, uint64_t hctrs)
{
	uint64_t done = 0;
	uint32_t hctr, event_idx;

	for (uint32_t i = 0; i < hpm->table->n_runs; i++) {
		const struct selector_run *run = &hpm->table->runs[i];

		for_each_bit (hctr, run->hctrs & hctrs & ~done) {
			uint64_t selector = selector_single(hpm->table, run, run->last);

			event_idx = hpm_firmware_event(SBI_PMU_TYPE_RAW_V2 << 16, selector);
			if (event_idx != HPM_NO_RAW &&
			    hpm_sbi_configure(hctr, HPM_SBI_GUESTS, event_idx, selector))
				done |= BIT(hctr);
		}
	}
	return done;
}
