/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `stays`, by which a program has each stay in HS recorded (core/watch/stays.h). It
 * reads them with `samples`, or a VM from its rings. The answer comes when all harts have begun or
 * ended the trace, and lists each vcpu with its index.
 */
#include "core/operator/prompt.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "core/watch/stays.h"

static uint32_t owner; /* see prompt_own_trace() */

static void post(enum observe_what what)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && this_pcpu()->vcpus[i]; i++)
		all |= BIT(i);
	observe_post(what, all);
}

void prompt_end_stays(uint32_t client)
{
	if (owner != client + 1)
		return;
	owner = 0;
	post(OBSERVE_NO_STAYS);
}

static void told(struct prompt *p)
{
	const struct vcpu *vcpu = prompt_vcpu(p);

	prompt_vcpu_names(p, vcpu);
	text_add(&p->out, ",'index':%u,'hart':%lu,'timebase':%u", vcpu->index,
	         vcpu_home(vcpu)->hartid, platform.timebase);
	prompt_tell(p);
	prompt_next_vcpu(p);
}

void prompt_stays(struct prompt *p)
{
	struct sample_ring *rings = samples_rings(p->client);
	bool on, first = !p->row;
	const struct vm *vm;

	if (!prompt_on_or_off(p, &on, &vm))
		return;
	if (!rings) {
		prompt_answer(p, PROMPT_FAILED, "%s: needs operator-samples-hz", p->word[0]);
		return;
	}
	if (first && !prompt_own_trace(p, &owner, on))
		return;
	/* A trace of another client ends in the rings of that one, before this one begins. */
	if (!first)
		stays_choose(vm, rings);
	post(first ? OBSERVE_NO_STAYS : OBSERVE_STAYS);
	p->row = first && on;
	if (!p->row)
		p->next = told;
}
