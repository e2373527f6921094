/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a firmware's refusals to start or stop counters: the vPMU of the vcpu for which
 * that was asked is told before anybody can read a wrong number. With delegated counters nothing is
 * ever refused.
 */
#ifndef CORE_VM_HPM_FAILURES_H
#define CORE_VM_HPM_FAILURES_H

#include "core/vm/vcpu.h"

/* Resident, or has just been saved, on this hart. To be called before its guest, or another vcpu,
 * goes on. */
static inline void hpm_failures_settle_on(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (__builtin_expect(pcpu->hpm.failed != 0, 0))
		vpmu_failed(&vcpu->pmu, hpm_failures(&pcpu->hpm));
}

static inline void hpm_failures_settle(struct vcpu *vcpu)
{
	hpm_failures_settle_on(vcpu->home, vcpu);
}

/*
 * A PMU call that was to start something answers that it failed. A counter that it configured is
 * forgotten: the guest, which takes it for what it was before, must not start it as something else.
 */
static inline void hpm_failures_answer(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t *x)
{
	if (x[16] == SBI_PMU_COUNTER_CONFIG_MATCHING) {
		vpmu_counter_stop(&vcpu->pmu, x[11], 1, SBI_PMU_STOP_FLAG_RESET);
		hpm_failures_settle_on(pcpu, vcpu);
	}
	x[10] = (uint64_t)SBI_ERR_FAILED;
	x[11] = 0;
}

/* The same where a short exit, or any other, becomes a long one; before anything else is done. */
static inline void hpm_failures_settle_exit(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t scause)
{
	uint64_t *x = vcpu->ctx.x;

	if (__builtin_expect(pcpu->hpm.failed == 0, 1))
		return;
	hpm_failures_settle_on(pcpu, vcpu);
	if (scause == ~(uint64_t)EXIT_ECALL && x[17] == SBI_EXT_PMU &&
	    (x[16] == SBI_PMU_COUNTER_START || x[16] == SBI_PMU_COUNTER_CONFIG_MATCHING) && !x[10])
		hpm_failures_answer(pcpu, vcpu, x);
}

#endif
