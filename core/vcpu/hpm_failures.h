/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's refusals to start or stop counters. The vPMU of the vcpu that asked for the start
 * or stop is notified before a wrong number can be read. Delegated counters are never refused.
 */
#ifndef CORE_VCPU_HPM_FAILURES_H
#define CORE_VCPU_HPM_FAILURES_H

#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu.h"

/* Call it before the guest or another vcpu continues. vcpu is resident on this hart, or has just
 * been saved. */
static inline void hpm_failures_settle_on(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (__builtin_expect(pcpu->hpm.failed == 0, 1))
		return;
	uint64_t failed = hpm_take_failures(&pcpu->hpm);

	/* These counters do not run, or count for no vcpu. */
	ledger(LEDGER_STOP, 0, vcpu, failed);
	vpmu_handle_failed(&vcpu->pmu, failed);
}

static inline void hpm_failures_settle(struct vcpu *vcpu)
{
	hpm_failures_settle_on(vcpu->home, vcpu);
}

/*
 * Makes a PMU call that should have started a counter return SBI_ERR_FAILED. If the call configured
 * that counter too, its configuration is dropped: the guest assumes the former configuration, so a
 * later start must not start the new event.
 */
static inline void hpm_failures_answer(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t *x)
{
	if (x[16] == SBI_PMU_COUNTER_CONFIG_MATCHING) {
		(void)vpmu_stop_answer(&vcpu->pmu, x[11], 1, SBI_PMU_STOP_FLAG_RESET);
		hpm_failures_settle_on(pcpu, vcpu);
	}
	x[10] = (uint64_t)SBI_ERR_FAILED;
	x[11] = 0;
}

/* Does the same for an exit on the slow path. Must come before all other handling. */
static inline __attribute__((always_inline)) void
hpm_failures_settle_exit(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t scause)
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
