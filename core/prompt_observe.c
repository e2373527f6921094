/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `observe`, `observed` and `unobserve`: counts of VMs without their guests' help, see
 * core/observe.h. An observation is one event of one VM, on all its vcpus; it has a number. Each
 * vcpu's hart is asked in turn, and the line comes when it has answered.
 */
#include <string.h>

#include "core/event_names.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/prompt.h"

#define NS_PER_S 1000000000U

/* What a command asks of each vcpu. */
static struct plan {
	enum observe_what what;
	uint32_t number;
	struct observed_event event;
} plans[PROMPT_ASKERS];
_Static_assert(PROMPT_ASKERS <= OBSERVE_ASKERS, "a place for each");

static uint32_t last_number;

/* Cuts a number off *at: decimal, or hexadecimal behind 0x. false: there is none. */
static bool cut_number(const char **at, uint64_t *value)
{
	unsigned int base = strncmp(*at, "0x", 2) == 0 ? 16 : 10;
	const char *s = base == 16 ? *at + 2 : *at;
	const char *begin = s;

	for (*value = 0; s - begin < 16; s++) {
		unsigned int digit = base;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			digit = (unsigned int)(*s - 'a') + 10;
		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	*at = s;
	return s != begin;
}

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
	if (!cut_number(at, &number) || number > UINT32_MAX)
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
		if (!cut_number(&text, &event->data))
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

const char *prompt_observe(struct prompt_walk *walk, const struct vm *vm, const char *event)
{
	struct plan *plan = &plans[walk->asker];

	if (!parse_event(event, &plan->event))
		return "it takes a VM and an event, as instructions:u or 0x20000/0x1234:k";
	plan->what = OBSERVE_BEGIN;
	plan->number = ++last_number;
	walk->vm = vm->index;
	walk->only_vm = true;
	return NULL;
}

const char *prompt_look(struct prompt_walk *walk, bool end, const char *number)
{
	struct plan *plan = &plans[walk->asker];
	const char *rest = number;
	uint64_t value = 0;

	if (*number && (!cut_number(&rest, &value) || *rest || !value || value > last_number))
		return "there is no observation of that number";
	plan->what = end ? OBSERVE_END : OBSERVE_LOOK;
	plan->number = (uint32_t)value;
	return NULL;
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

static void json(const struct vcpu *vcpu, const struct observer *o, char *line)
{
	char reason[64] = "null";

	if (o->ended)
		(void)tally_snprintf(reason, sizeof(reason), "\"%s\"", o->ended);
	(void)tally_snprintf(
	    line, PROMPT_LINE_BYTES,
	    "{\"vm\":\"%s\",\"vcpu\":%u,\"observation\":%u,\"event\":\"0x%x\",\"data\":\"0x%lx\","
	    "\"filter\":\"%s\",\"value\":%lu,\"ns\":%lu,\"at_ns\":%lu,\"shared\":%s,\"ended\":%s}",
	    vcpu->vm->config->name, vcpu->id, o->number, o->event.event_idx, o->event.data,
	    filter_name(&o->event), o->value, ns(o->until - o->since), ns(o->until),
	    o->shared ? "true" : "false", reason);
}

static void text(const struct vcpu *vcpu, const struct observer *o, char *line)
{
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

/* The next vcpu that there is something to ask. */
static bool find_vcpu(struct prompt_walk *walk, enum observe_what what)
{
	while (walk->vm < n_vms) {
		if (what == OBSERVE_BEGIN || vcpu_is_observed(prompt_vcpu(walk)))
			return true;
		prompt_next_vcpu(walk);
	}
	return false;
}

static void post(const struct prompt_walk *walk, struct observe_request *request)
{
	const struct plan *plan = &plans[walk->asker];

	request->what = plan->what;
	request->number = plan->number;
	request->event = plan->event;
	request->vcpu = vms[walk->vm].vcpus[walk->vcpu];
	observe_post(request);
}

/* walk->line: 0: nothing is posted for this vcpu; n + 1: observers from n on are to be told. */
void prompt_observed(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	struct observe_request *request = &observe_requests[walk->asker];
	const struct vcpu *vcpu = request->vcpu;

	line[0] = '\0';
	/* It may be that of a command before this one. */
	if (atomic_load(&request->posted))
		return;
	if (!walk->line) {
		if (find_vcpu(walk, plans[walk->asker].what)) {
			post(walk, request);
			walk->line = 1;
		}
		return;
	}
	for (uint32_t n = walk->line - 1; n < VPMU_OBSERVERS; n++) {
		if (!request->found[n].number)
			continue;
		walk->line = n + 2;
		(walk->json ? json : text)(vcpu, &request->found[n], line);
		return;
	}
	if (walk->line == 1 && request->what == OBSERVE_BEGIN)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     walk->json ? "{\"vm\":\"%s\",\"vcpu\":%u,\"observation\":null,"
		                                  "\"ended\":\"too many observers\"}"
		                                : "vm %s: vcpu %u: too many observers",
		                     vcpu->vm->config->name, vcpu->id);
	prompt_next_vcpu(walk);
}
