/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a vcpu: ready, waiting, and off. */
#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/sched/sched_parts.h"
#include "core/sched/vcpu_budget.h"
#include "core/vcpu/guest_file.h"

static void wants_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu->ready |= vcpu->bit;
	if (!pcpu->current)
		pcpu->steal_not_begun |= vcpu->bit;
	else if (vcpu != pcpu->current)
		sched_begin_steal(vcpu, csr_read(CSR_TIME));
	pcpu_resched(pcpu);
}

void sched_set_ready(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t bit = vcpu->bit;

	CHECK(vcpu->home == this_pcpu());
	if (pcpu->waiting & bit) {
		wake_times_set(&pcpu->wake, vcpu->index, vcpu_deadline(vcpu));
		if (vcpu->guest_file)
			guest_file_ignore(vcpu);
		if (atomic_load_explicit(&vcpu->hsm_state, memory_order_relaxed) ==
		    SBI_HSM_STATE_SUSPENDED)
			atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STARTED);
		/* The vcpu is awake, so no request needs to wake it. */
		if (vcpu != pcpu->current)
			requests_disable(&vcpu->requests);
	}
	pcpu->waiting &= ~bit;
	pcpu->called &= ~bit;
	wants_turn(pcpu, vcpu);
}

void sched_enable_requests(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t bit = vcpu->bit;
	uint64_t enabled = REQ_AT_ONCE;

	CHECK(vcpu->home == this_pcpu());
	if (!(pcpu->ready & bit))
		enabled |= REQ_START | REQ_STOP;
	if (pcpu->waiting & ~pcpu->ready & bit)
		enabled |= vcpu_woken_by(vcpu);
	if (!(requests_enable(&vcpu->requests, enabled) & ~REQ_AT_ONCE))
		return;
	pcpu->called |= bit;
	wants_turn(pcpu, vcpu);
}

void sched_wait(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	CHECK(vcpu->home == this_pcpu());
	pcpu->ready &= ~vcpu->bit;
	pcpu->waiting |= vcpu->bit;
	pcpu_resched(pcpu);
}

void sched_yield(void)
{
	this_pcpu()->slice_end = 0;
	pcpu_resched(this_pcpu());
}

void sched_wake_if_interrupted(struct vcpu *vcpu)
{
	if ((vcpu->home->waiting & vcpu->bit) && vcpu_has_interrupt(vcpu))
		sched_set_ready(vcpu);
}

void sched_off(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	CHECK(vcpu->home == this_pcpu());
	if (vcpu->has_deadlines)
		vcpu_budget_off(vcpu);
	wake_times_set(&pcpu->wake, vcpu->index, ~0UL);
	pcpu->ready &= ~vcpu->bit;
	pcpu->waiting &= ~vcpu->bit;
	pcpu->called &= ~vcpu->bit;
	pcpu->steal_not_begun &= ~vcpu->bit;
	pcpu_resched(pcpu);
}
