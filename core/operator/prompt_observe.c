/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `observe`, `observed` and `unobserve`: counts of VMs without their guests' help, see
 * core/vm/observe.h. An observation is one event of one VM, on all its vcpus; it has a number. All
 * vcpus are looked at together, at one moment, and told one by one; to begin and to end, each one's
 * hart is asked in turn.
 */
#include <string.h>

#include "core/lib/event_names.h"
#include "core/lib/numbers.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/operator/prompt.h"

#define NS_PER_S 1000000000U

/* What a command asks. */
static struct plan {
	enum observe_what what;
	uint32_t number;
	struct observed_event event;
	bool looked;    /* not to begin: all have been asked; ... */
	uint64_t vcpus; /* ... these, by their index */
} plans[PROMPT_ASKERS];
_Static_assert(PROMPT_ASKERS <= OBSERVE_ASKERS, "a place for each");

static uint32_t last_number;

/* A number, or a name: perf's, or one of Tally's own events. */
static bool cut_event(const char **at, uint32_t *event_idx)
{
	uint64_t number;
	size_t n = 0;

	while ((*at)[n] != '\0' && (*at)[n] != ':' && (*at)[n] != '/')
		n++;
	if (event_of_name(*at, n, event_idx)) {
		*at += n;
		return true;
	}
	if (!number_cut(at, &number) || number > UINT32_MAX)
		return false;
	*event_idx = (uint32_t)number;
	return true;
}

/* EVENT, EVENT/DATA, and behind each :u, :k or :uk. */
static bool parse_event(const char *text, struct observed_event *event)
{
	*event = (struct observed_event){.flags = 0};
	if (!cut_event(&text, &event->event_idx))
		return false;
	if (*text == '/') {
		text++;
		if (!number_cut(&text, &event->data))
			return false;
	}
	if (strcmp(text, ":u") == 0)
		event->flags = SBI_PMU_CFG_FLAG_SET_SINH;
	else if (strcmp(text, ":k") == 0)
		event->flags = SBI_PMU_CFG_FLAG_SET_UINH;
	else
		return *text == '\0' || strcmp(text, ":uk") == 0;
	return true;
}

bool prompt_observe(struct prompt_walk *walk, const struct vm *vm, const char *event)
{
	struct plan *plan = &plans[walk->asker];

	if (!parse_event(event, &plan->event))
		return false;
	plan->what = OBSERVE_BEGIN;
	plan->number = ++last_number;
	walk->vm = vm->index;
	walk->only_vm = true;
	return true;
}

bool prompt_look(struct prompt_walk *walk, bool end, const char *number)
{
	struct plan *plan = &plans[walk->asker];
	uint64_t value = *number ? prompt_number(number) : 0;

	if (*number && (!value || value > last_number))
		return false;
	plan->what = end ? OBSERVE_END : OBSERVE_LOOK;
	plan->number = (uint32_t)value;
	plan->looked = false;
	return true;
}

static uint64_t ns(uint64_t ticks)
{
	return ticks / platform.timebase * NS_PER_S +
	       ticks % platform.timebase * NS_PER_S / platform.timebase;
}

static const char *filter_name(const struct observed_event *event)
{
	if (event->flags == SBI_PMU_CFG_FLAG_SET_SINH)
		return "u";
	return event->flags == SBI_PMU_CFG_FLAG_SET_UINH ? "k" : "uk";
}

static void json(const struct prompt_walk *walk, const struct observer *o, char *line)
{
	const struct vcpu *vcpu = prompt_vcpu(walk);
	uint64_t looked = vcpu->observers.told_at[walk->asker];
	char reason[64] = "null";

	if (o->ended)
		(void)tally_snprintf(reason, sizeof(reason), "\"%s\"", o->ended);
	(void)tally_snprintf(
	    line, PROMPT_LINE_BYTES,
	    "{\"vm\":\"%s\",\"vcpu\":%u,\"observation\":%u,\"event\":\"0x%x\",\"data\":\"0x%lx\","
	    "\"filter\":\"%s\",\"value\":%lu,\"ns\":%lu,\"at_ns\":%lu,"
	    "\"looked_ns\":%lu,\"shared\":%s,\"ended\":%s}",
	    vcpu->vm->config->name, vcpu->id, o->number, o->event.event_idx, o->event.data,
	    filter_name(&o->event), o->value, ns(o->until - o->since), ns(o->until), ns(looked),
	    o->shared ? "true" : "false", reason);
}

static void text(const struct prompt_walk *walk, const struct observer *o, char *line)
{
	const struct vcpu *vcpu = prompt_vcpu(walk);
	uint64_t us = ns(o->until - o->since) / 1000;
	char data[24] = "";

	if (o->event.data)
		(void)tally_snprintf(data, sizeof(data), "/0x%lx", o->event.data);
	(void)tally_snprintf(
	    line, PROMPT_LINE_BYTES,
	    "vm %s: vcpu %u: observation %u: event 0x%x%s:%s: %lu in %lu.%06lu s%s%s%s",
	    vcpu->vm->config->name, vcpu->id, o->number, o->event.event_idx, data,
	    filter_name(&o->event), o->value, us / 1000000, us % 1000000,
	    o->shared ? ", shared" : "", o->ended ? ", ended: " : "", o->ended ? o->ended : "");
}

static uint64_t observed_vcpus(void)
{
	const struct pcpu *pcpu = this_pcpu();
	uint64_t found = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++)
		found |= vcpu_is_observed(pcpu->vcpus[i]) ? BIT(i) : 0;
	return found;
}

static void post(const struct prompt_walk *walk, enum observe_what what, uint64_t vcpus)
{
	struct observe_request *request = &observe_requests[walk->asker];
	const struct plan *plan = &plans[walk->asker];

	request->what = what;
	request->number = plan->number;
	request->event = plan->event;
	observe_post(request, vcpus);
}

/* The walk is at a vcpu that it has not asked yet. true: and need not. */
static bool ask(struct prompt_walk *walk)
{
	struct plan *plan = &plans[walk->asker];

	if (plan->what != OBSERVE_BEGIN && !plan->looked) {
		plan->looked = true;
		plan->vcpus = observed_vcpus();
		post(walk, OBSERVE_LOOK, plan->vcpus);
		return false;
	}
	while (plan->what != OBSERVE_BEGIN && !(plan->vcpus & BIT(prompt_vcpu(walk)->index))) {
		prompt_next_vcpu(walk);
		if (walk->vm >= n_vms)
			return false;
	}
	walk->line = 1;
	if (plan->what == OBSERVE_LOOK)
		return true;
	post(walk, plan->what, BIT(prompt_vcpu(walk)->index));
	return false;
}

/* walk->line: 0: this vcpu has not been asked; n + 1: observers from n on are to be told. */
void prompt_observed(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	line[0] = '\0';
	/* What is not done may be of a command before this one. */
	if (atomic_load(&observe_requests[walk->asker].vcpus) || (!walk->line && !ask(walk)))
		return;

	const struct vcpu *vcpu = prompt_vcpu(walk);
	const struct observer *told = vcpu->observers.told[walk->asker];

	for (uint32_t n = walk->line - 1; n < VPMU_OBSERVERS; n++) {
		if (!told[n].number)
			continue;
		walk->line = n + 2;
		(walk->json ? json : text)(walk, &told[n], line);
		return;
	}
	if (walk->line == 1 && plans[walk->asker].what == OBSERVE_BEGIN)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     walk->json ? "{\"vm\":\"%s\",\"vcpu\":%u,\"observation\":null,"
		                                  "\"ended\":\"too many observers\"}"
		                                : "vm %s: vcpu %u: too many observers",
		                     vcpu->vm->config->name, vcpu->id);
	prompt_next_vcpu(walk);
}
