/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `stays`, by which a program has each stay in HS recorded (core/watch/stays.h). It
 * reads them with `samples`. The answer comes when all harts have begun or ended the trace, and
 * lists each vcpu with its index.
 */
#include "core/operator/prompt.h"
#include "core/watch/observe.h"
#include "core/watch/stays.h"

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
	const struct vm *vm;
	uint64_t all = 0;
	bool on;

	if (!prompt_on_or_off(p, &on, &vm))
		return;
	for (uint32_t i = 0; i < MAX_HART_VCPUS && this_pcpu()->vcpus[i]; i++)
		all |= BIT(i);
	if (on)
		stays_choose(vm);
	observe_post(on ? OBSERVE_STAYS : OBSERVE_NO_STAYS, all);
	p->next = told;
}
