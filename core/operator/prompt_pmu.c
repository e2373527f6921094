/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `pmu`: for each vcpu one line about it, then one for each counter of its guest. */
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "vpmu/bits.h"
#include "vpmu/show.h"

static const char *const states[] = {
    [VPMU_STOPPED] = "stopped", [VPMU_RUNNING] = "running", [VPMU_LOST] = "lost"};

/* "u" and "k" as perf's modifiers: the modes that count; "h" where HS does, too. */
static const char *filter_name(const struct vpmu_view *view)
{
	static const char *const names[] = {"uk", "u", "k", "none", "ukh", "uh", "kh", "none"};

	return view->is_fw ? "uk" : names[view->inhibit % 8];
}

static const char *read_name(const struct vpmu_view *view)
{
	if (view->is_fw)
		return "call";
	return view->direct ? "direct" : "trapped";
}

/* What vpmu/ cannot know: firmware events that the port counts, for this very vcpu. */
static void add_total(const struct vcpu *vcpu, bool same_hart, struct vpmu_view *view)
{
	uint32_t code = SBI_PMU_EVENT_CODE(view->event_idx);

	view->holds = VPMU_VALUE_NOW;
	/* Of these the firmware of the vcpu's hart has a part while the vcpu is resident. */
	if (code >= FW_EVENTS_M || vcpu_is_current(vcpu))
		view->value += vcpu_fw_total(vcpu, code);
	else if (same_hart)
		view->value += vcpu->fw.total[code];
	else
		view->holds = VPMU_VALUE_AWAY;
}

static void vcpu_line(const struct prompt_walk *walk, const struct vcpu *vcpu, char *line)
{
	uint64_t configured = vpmu_configured(&vcpu->pmu);
	unsigned int n = 0;

	for (; configured; configured &= configured - 1)
		n++;
	(void)tally_snprintf(line, PROMPT_LINE_BYTES,
	                     walk->json ? "{\"vm\":\"%s\",\"vcpu\":%u,\"hart\":%lu,"
	                                  "\"counters\":%u,\"overflows\":%lu,\"held_back\":%lu,"
	                                  "\"refusals\":%lu}"
	                                : "vm %s: vcpu %u: hart %lu, counters %u, overflows %lu, "
	                                  "held back %lu",
	                     vcpu->vm->config->name, vcpu->id, vcpu->home->hartid, n,
	                     vcpu->fw.lcofis, vcpu->lcofi.held_back, vcpu->fw.refusals);
}

static void counter_json(const struct vcpu *vcpu, uint32_t idx, const struct vpmu_view *view,
                         char *line)
{
	char value[24] = "null";
	char hctr[8] = "null";

	if (view->holds == VPMU_VALUE_NOW)
		(void)tally_snprintf(value, sizeof(value), "%lu", view->value);
	if (!view->is_fw)
		(void)tally_snprintf(hctr, sizeof(hctr), "%u", view->hctr);
	(void)tally_snprintf(
	    line, PROMPT_LINE_BYTES,
	    "{\"vm\":\"%s\",\"vcpu\":%u,\"counter\":%u,\"event\":\"0x%x\",\"data\":\"0x%lx\","
	    "\"filter\":\"%s\",\"state\":\"%s\",\"read\":\"%s\",\"shared\":%s,\"hctr\":%s,"
	    "\"value\":%s,\"of\":%s}",
	    vcpu->vm->config->name, vcpu->id, idx, view->event_idx, view->event_data,
	    filter_name(view), states[view->state], read_name(view),
	    view->shared ? "true" : "false", hctr, value, view->overflow ? "true" : "false");
}

static void counter_text(uint32_t idx, const struct vpmu_view *view, char *line)
{
	char value[40] = "no value";
	char hctr[24] = "firmware";
	char data[24] = "";

	if (view->holds == VPMU_VALUE_NOW)
		(void)tally_snprintf(value, sizeof(value), "%lu", view->value);
	else if (view->holds == VPMU_VALUE_AWAY)
		(void)tally_snprintf(value, sizeof(value), "value on that hart");
	if (!view->is_fw)
		(void)tally_snprintf(hctr, sizeof(hctr), "hctr %u", view->hctr);
	if (view->event_data)
		(void)tally_snprintf(data, sizeof(data), "/0x%lx", view->event_data);
	(void)tally_snprintf(
	    line, PROMPT_LINE_BYTES, "  counter %2u: event 0x%x%s:%s, %s, %s, %s%s, %s%s", idx,
	    view->event_idx, data, filter_name(view), states[view->state], hctr, read_name(view),
	    view->shared ? ", shared" : "", value, view->overflow ? ", OF" : "");
}

/* Moves on to the next counter that is configured now. */
static void next(struct prompt_walk *walk, uint64_t configured, uint32_t from)
{
	uint64_t left = from < VPMU_COUNTERS ? configured >> from << from : 0;

	if (left)
		walk->line = 1 + lowest_bit(left);
	else
		prompt_next_vcpu(walk);
}

void prompt_pmu(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	const struct vcpu *vcpu = prompt_vcpu(walk);
	uint64_t configured = vpmu_configured(&vcpu->pmu);
	bool same_hart = vcpu->home == this_pcpu();
	struct vpmu_view view;
	uint32_t idx;

	if (!walk->line) {
		vcpu_line(walk, vcpu, line);
		next(walk, configured, 0);
		return;
	}
	idx = walk->line - 1;
	if (!vpmu_describe(&vcpu->pmu, idx, same_hart, &view)) {
		/* Since the last line: the guest runs in between. */
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     walk->json ? "{\"vm\":\"%s\",\"vcpu\":%u,\"counter\":%u,"
		                                  "\"state\":\"gone\"}"
		                                : "  vm %s: vcpu %u: counter %u: gone",
		                     vcpu->vm->config->name, vcpu->id, idx);
	} else {
		if (view.holds == VPMU_VALUE_LESS_TOTAL)
			add_total(vcpu, same_hart, &view);
		if (walk->json)
			counter_json(vcpu, idx, &view, line);
		else
			counter_text(idx, &view, line);
	}
	next(walk, configured, idx + 1);
}
