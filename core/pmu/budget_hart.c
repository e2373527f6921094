/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pmu/budget_hart.h"

#include "arch/riscv/hart/quirks.h"
#include "core/hart/pcpu.h"
#include "core/lib/text.h"
#include "vpmu/bits.h"

/* Returns why a hart cannot count an event for budgets, or NULL if it can, with *hctrs. */
static const char *obstacle(const struct hpm *hpm, uint32_t event_idx, uint64_t *hctrs)
{
	const struct hpm_event *event = hpm_event_find(hpm, event_idx);

	if (!hpm->hctrs)
		return "no counters";
	if (!event)
		return "no counter for the event";
	if (event->fault)
		return event->fault;
	if (!hpm->lcofi || hpm->no_overflow)
		return hpm->no_overflow ? hpm->no_overflow : "no overflow interrupts";
	/* The hart's guests would see the OF bit of the budget's counter. */
	if (!hpm->ssccfg && !hpm->flags_hidden)
		return "no ssccfg";
	if (quirks.no_armed_cache_events && SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_CACHE)
		return "no overflow interrupt of cache events";
	*hctrs = event->hctrs & ~HCTRS_FIXED;
	return *hctrs ? NULL : "no counter for the event that interrupts";
}

/* Returns the hctrs that can count the event on each of these harts. If there are none, returns 0
 * and sets *why and *hart. */
static uint64_t common(uint64_t harts, uint32_t event_idx, const char **why, uint32_t *hart)
{
	uint64_t all = ~UINT64_C(0);
	uint32_t i;

	for_each_bit (i, harts) {
		uint64_t hctrs = 0;

		*hart = i;
		*why = obstacle(&pcpu_at(i)->hpm, event_idx, &hctrs);
		all &= hctrs;
		if (!all) {
			if (!*why)
				*why = "another counter for the event than the VM's first hart";
			return 0;
		}
	}
	return all;
}

uint32_t budget_hctr(uint64_t harts, uint32_t event_idx)
{
	const char *why;
	uint32_t hart;
	uint64_t hctrs = common(harts, event_idx, &why, &hart);

	/* Guests get the lowest counters first, so this is the highest. */
	return hctrs ? highest_bit(hctrs) : 0;
}

const char *budget_refusal(uint64_t harts, uint32_t event_idx)
{
	static char line[112];
	struct text text = text_begin(line, sizeof(line));
	const char *why = NULL;
	uint32_t hart = 0;

	if (common(harts, event_idx, &why, &hart))
		return NULL;
	text_add(&text, "hart %lu has %s", pcpu_at(hart)->hartid, why);
	return line;
}
