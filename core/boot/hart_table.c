/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include "arch/riscv/hart/quirks.h"
#include "core/lib/event_names.h"
#include "core/lib/text.h"
#include "core/lib/words.h"
#include "core/log.h"

static void add_event(struct text *text, const struct hpm_contradiction *found)
{
	char name[EVENT_NAME_BYTES];

	if (!found->event_idx) {
		text_add(text, "raw event 0x%lx", found->selector);
		return;
	}
	event_name(found->event_idx, name);
	text_add(text, "%s", name);
}

const char *hart_contradiction(uint32_t hart)
{
	static char line[112];
	const struct pcpu *pcpu = pcpu_at(hart);
	const struct hpm_contradiction *found = &pcpu->hpm.contradiction;
	struct text text = text_begin(line, sizeof(line));

	text_add(&text, "hart %lu contradicts it: ", pcpu->hartid);
	switch (found->kind) {
	case HPM_AGREES:
		return NULL;
	case HPM_NO_COUNTER:
		text_add(&text, "it has no counter %u", found->hctr);
		break;
	case HPM_REFUSES:
		text_add(&text, "the firmware refuses ");
		add_event(&text, found);
		text_add(&text, " on counter %u", found->hctr);
		break;
	case HPM_KEEPS:
		text_add(&text, "for ");
		add_event(&text, found);
		text_add(&text, " counter %u has the selector 0x%lx", found->hctr, found->kept);
		if (found->event_idx)
			text_add(&text, ", not 0x%lx", found->selector);
		break;
	}
	return line;
}

static const char *raw_events(const struct hpm *hpm)
{
	if (!hpm->table_raw)
		return "none, because the firmware takes none of it";
	return quirks.home_counters ? "only those of the SBI's (home-counters)" : "all of it";
}

void hart_table_report(const struct pcpu *pcpu)
{
	const struct selectors *table = pcpu->hpm.table;
	const char *what;
	char counters[SET_TEXT_BYTES];
	uint64_t hctrs = 0;

	if (!table || !pcpu->hpm.hctrs)
		return;
	for (uint32_t i = 0; i < table->n_runs; i++)
		hctrs |= table->runs[i].hctrs;
	log_line("hart %lu: /pmu of %s: %u row%s of events on %s, %u of the SBI's; raw events: %s",
	         pcpu->hartid, table->core, table->n_runs, table->n_runs == 1 ? "" : "s",
	         counters_text(hctrs, counters), table->n_standard, raw_events(&pcpu->hpm));
	what = hart_contradiction(pcpu->index);
	if (what)
		log_line("/pmu: %s", what);
}
