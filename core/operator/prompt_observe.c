/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `observe`, `sample`, `account`, `observed` and `unobserve` count events of VMs
 * without their guests' help (core/watch/observe.h). An observation is one event of one VM, on all
 * its vcpus, and has a number. All vcpus are read at one moment, and printed one by one. An
 * observation begins and ends on the vcpus' harts one after the other.
 */
#include <string.h>

#include "core/lib/event_names.h"
#include "core/lib/numbers.h"
#include "core/operator/prompt.h"
#include "core/vcpu/observers.h"
#include "core/vcpu/unwind.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "vpmu/tally_events.h"

/* With a rate: the number of events before the first sample, which shows their frequency. */
#define FIRST_PERIOD 1000U
#define MOST_HZ      100000U

/* Of each client; its numbers begin anew after NUMBERS. */
#define NUMBERS ((1U << OBSERVE_CLIENT_SHIFT) - 1)
static uint32_t last_number[VM_MAX_VMS + 1];
/* The vcpus that `observed` or `unobserve` has read, as a mask of their indexes. */
static uint64_t looked_at;

/* Filter n has the flags n * SBI_PMU_CFG_FLAG_SET_UINH. */
static const char *const filters[] = {"uk", "k", "u"};
_Static_assert(SBI_PMU_CFG_FLAG_SET_SINH == 2 * SBI_PMU_CFG_FLAG_SET_UINH, "filters[2]");

/* Parses EVENT or EVENT/DATA, optionally followed by :u, :k or :uk. EVENT is a number, a name of
 * perf's, or the name of one of Tally's own events. */
static bool parse_event(const char *text, struct observed_event *event)
{
	const char *data = strchr(text, '/'), *filter = strchr(text, ':');
	const char *end = data ? data : filter ? filter : text + strlen(text);
	uint64_t number;

	*event = (struct observed_event){.flags = 0};
	if (number_cut(&text, &number)) {
		if (number > UINT32_MAX)
			return false;
		event->event_idx = (uint32_t)number;
	} else if (event_of_name(text, (size_t)(end - text), &event->event_idx)) {
		text = end;
	} else {
		return false;
	}
	if (*text == '/') {
		text++;
		if (!number_cut(&text, &event->data))
			return false;
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(filters); i++) {
		event->flags = i * SBI_PMU_CFG_FLAG_SET_UINH;
		if (*text == '\0' || (*text == ':' && strcmp(text + 1, filters[i]) == 0))
			return true;
	}
	return false;
}

/* Parses PERIOD or RATEhz. */
static bool parse_period(const char *text, struct observed_event *event)
{
	uint64_t n;

	if (!number_cut(&text, &n) || !n)
		return false;
	if (*text == '\0') {
		event->period = n;
		return true;
	}
	event->period = FIRST_PERIOD;
	event->hz = (uint32_t)n;
	return strcmp(text, "hz") == 0 && n <= MOST_HZ && n <= platform.timebase;
}

static bool parse_depth(const char *text, struct observed_event *event)
{
	uint64_t n = prompt_number(text);

	event->depth = (uint16_t)n;
	return n <= UNWIND_MOST;
}

/* Parses the words after the name of the VM. */
static bool parse_words(const struct prompt *p, struct observed_event *event)
{
	if (strcmp(p->word[0], "account") == 0) {
		*event = (struct observed_event){
		    .event_idx = SBI_PMU_TYPE_FW << 16 | TALLY_EVENT_HS_INSTRUCTIONS,
		    .account = true,
		};
		return true;
	}
	return parse_event(p->word[2], event) &&
	       (p->n_words < 4 || parse_period(p->word[3], event)) &&
	       (p->n_words < 5 || parse_depth(p->word[4], event));
}

/* Short, since each character of a line lengthens the stay in which it is written. */
static void tell_samples(struct prompt *p, const struct vcpu *vcpu, const struct observer *o)
{
	if (strcmp(p->word[0], "sample") == 0)
		text_add(&p->out, ",'timebase':%u", platform.timebase);
	else
		text_add(&p->out, ",'samples':%lu,'lost':%lu,'late':%lu", o->samples, o->lost,
		         o->late);
	text_add(&p->out, ",'lcofi_hs':%lu", vcpu->ctx.hs_insns[EXIT_LCOFI]);
}

/* Makes the line in two parts. Returns false after the first. */
static bool tell(struct prompt *p, const struct observer *o)
{
	const struct vcpu *vcpu = prompt_vcpu(p);

	if (!p->part) {
		prompt_vcpu_names(p, vcpu);
		text_add(&p->out,
		         ",'observation':%u,'event':'0x%x','data':'0x%lx','filter':'%s',"
		         "'value':%lu",
		         o->number, o->event.event_idx, o->event.data,
		         filters[o->event.flags / SBI_PMU_CFG_FLAG_SET_UINH], o->value);
		p->part++;
		return false;
	}
	text_add(&p->out, ",'ns':%lu,'at_ns':%lu,'looked_ns':%lu,'shared':%s",
	         prompt_time(o->until - o->since, NS_PER_S), prompt_time(o->until, NS_PER_S),
	         prompt_time(vcpu->observers.read_at, NS_PER_S), prompt_bool(o->shared));
	if (o->event.period)
		tell_samples(p, vcpu, o);
	text_add(&p->out, o->ended ? ",'ended':'%s'" : ",'ended':null", o->ended);
	prompt_tell(p);
	return true;
}

/* Makes a part of the line about the next observer of the vcpu. Returns false if there is none.
 * p->row is 0 before the request for the vcpu; afterwards it is n + 1 if the observers from n on
 * have not been printed. */
static bool tell_next(struct prompt *p)
{
	const struct observer *told = prompt_vcpu(p)->observers.copies;
	uint32_t n = p->row - 1;

	while (n < VPMU_OBSERVERS && !told[n].number)
		n++;
	if (n == VPMU_OBSERVERS)
		return false;
	if (tell(p, &told[n]))
		p->row = n + 2;
	return true;
}

static void begun(struct prompt *p)
{
	if (!p->row) {
		p->row = 1;
		observe_post(OBSERVE_BEGIN, BIT(prompt_vcpu(p)->index));
		return;
	}
	if (tell_next(p)) {
		if (p->part)
			return;
	} else {
		prompt_vcpu_names(p, prompt_vcpu(p));
		text_add(&p->out, ",'observation':null,'ended':'too many observers'");
		prompt_tell(p);
	}
	prompt_next_vcpu(p);
	if (!p->vcpu)
		p->vm = n_vms;
}

static uint32_t new_number(uint32_t client)
{
	last_number[client] = last_number[client] % NUMBERS + 1;
	return client << OBSERVE_CLIENT_SHIFT | last_number[client];
}

/* The serial line may name those of all clients. */
static bool is_number(const struct prompt *p, uint64_t number)
{
	uint64_t client = number >> OBSERVE_CLIENT_SHIFT;

	return client <= VM_MAX_VMS && (!p->rights || client == p->client) && number & NUMBERS &&
	       (number & NUMBERS) <= last_number[client];
}

void prompt_observe(struct prompt *p)
{
	const struct vm *vm = prompt_vm_named(p, p->word[1]);

	if (!vm)
		return;
	if (!parse_words(p, &observe_request.event)) {
		prompt_wrong(p);
		return;
	}
	if (observe_request.event.period && !samples_rings(p->client)) {
		prompt_answer(p, PROMPT_FAILED, "%s: needs operator-samples-hz", p->word[0]);
		return;
	}
	observe_request.number = new_number(p->client);
	p->vm = vm->index;
	p->next = begun;
}

static void looked(struct prompt *p)
{
	while (!(looked_at & BIT(prompt_vcpu(p)->index))) {
		prompt_next_vcpu(p);
		if (p->vm >= n_vms)
			return;
	}
	if (!p->row) {
		p->row = 1;
		if (strcmp(p->word[0], "unobserve") == 0) {
			observe_post(OBSERVE_END, BIT(prompt_vcpu(p)->index));
			return;
		}
	}
	if (!tell_next(p))
		prompt_next_vcpu(p);
}

void prompt_observed(struct prompt *p)
{
	uint64_t number = p->n_words > 1 ? prompt_number(p->word[1]) : 0;

	if (p->n_words > 1 && !is_number(p, number)) {
		prompt_answer(p, PROMPT_WRONG, "%s: there is no observation of that number",
		              p->word[0]);
		return;
	}
	looked_at = observe_vcpus(p->vms);
	observe_request.number = (uint32_t)number;
	observe_post(OBSERVE_READ, looked_at);
	p->next = looked;
}
