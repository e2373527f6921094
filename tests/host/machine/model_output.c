/* SPDX-License-Identifier: Apache-2.0 */
/* Vcpus that wait for room in the console's output: how often each kind of them was met. */
#include "core/sched/sched.h"
#include "core/vcpu/vm.h"
#include "tests/host/machine/model.h"

void __real_sched_wait_for_output(struct vcpu *vcpu);
void __wrap_sched_wait_for_output(struct vcpu *vcpu);
void __real_sched_has_output(struct vcpu *vcpu);
void __wrap_sched_has_output(struct vcpu *vcpu);
void __real_sched_off(struct vcpu *vcpu);
void __wrap_sched_off(struct vcpu *vcpu);

static bool waits(const struct vcpu *vcpu)
{
	return vcpu->run.blocked & BLOCK_OUTPUT;
}

void __wrap_sched_wait_for_output(struct vcpu *vcpu)
{
	__real_sched_wait_for_output(vcpu);
	machine.waits.all++;
	machine.waits.in_windows += vcpu->home->has_schedule;
	machine.waits.with_budget += vcpu->run.has_budget;
	model_of(vcpu)->output_waits++;
	model_of(vcpu)->output_waits_on = vcpu->home;
}

void __wrap_sched_has_output(struct vcpu *vcpu)
{
	machine.waits.spent += waits(vcpu) && vcpu->run.has_budget && vcpu->budget.spent;
	machine.waits.moved += waits(vcpu) && model_of(vcpu)->output_waits_on != vcpu->home;
	__real_sched_has_output(vcpu);
}

void __wrap_sched_off(struct vcpu *vcpu)
{
	machine.waits.stopped += waits(vcpu);
	__real_sched_off(vcpu);
}
