/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a firmware's refusals to start or stop counters: the vPMU of the vcpu for which that
 * was asked is told before anybody can read a wrong number. With delegated counters nothing is ever refused.
 */
#ifndef CORE_HPM_FAILURES_H
#define CORE_HPM_FAILURES_H

#include "core/vcpu.h"
#include "core/vsbi.h"

/* Resident, or has just been saved. To be called before its guest, or another vcpu, goes on. */
static inline void hpm_failures_settle(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;

	if (__builtin_expect(hpm->failed != 0, 0))
		vpmu_failed(&vcpu->pmu, hpm_failures(hpm));
}

/* The same in a PMU call of the guest's, which is told that it failed if it was to start something. */
static inline vsbi_ret hpm_failures_answer(struct vcpu *vcpu, uint64_t fid, vsbi_ret ret)
{
	if (__builtin_expect(vcpu->home->hpm.failed == 0, 1))
		return ret;
	hpm_failures_settle(vcpu);
	return fid == SBI_PMU_COUNTER_STOP || (long)ret < 0 ? ret : vsbi_result(SBI_ERR_FAILED, 0);
}

#endif
