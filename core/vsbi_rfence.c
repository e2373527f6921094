/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 chapter 8. A fence on another vcpu is done before that vcpu's next instruction; one
 * that is in the guest on another hart at this moment is interrupted, and the caller waits for it.
 */
#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include "core/sched.h"
#include "core/vm.h"
#include "core/vsbi.h"

struct fence {
	uint32_t sent, received; /* firmware events */
	uint64_t request;
};

static const struct fence fences[] = {
    [SBI_RFENCE_FENCE_I] = {SBI_PMU_FW_FENCE_I_SENT, SBI_PMU_FW_FENCE_I_RECEIVED,
                            VCPU_REQ_FENCE_I | VCPU_REQ_FW_FENCE_I},
    [SBI_RFENCE_SFENCE_VMA] = {SBI_PMU_FW_SFENCE_VMA_SENT, SBI_PMU_FW_SFENCE_VMA_RECEIVED,
                               VCPU_REQ_VVMA | VCPU_REQ_FW_VVMA},
    [SBI_RFENCE_SFENCE_VMA_ASID] = {SBI_PMU_FW_SFENCE_VMA_ASID_SENT,
                                    SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED,
                                    VCPU_REQ_VVMA | VCPU_REQ_FW_VVMA_ASID},
};

static void fence_one(struct vcpu *self, struct vcpu *target, uint64_t fid)
{
	const struct fence *fence = &fences[fid];

	vpmu_fw_event(&self->pmu, fence->sent);
	if (target != self) {
		if (vcpu_is_on(target))
			vcpu_request(target, fence->request);
		return;
	}
	vpmu_fw_event(&self->pmu, fence->received);
	if (fid == SBI_RFENCE_FENCE_I)
		fence_i();
	else
		hfence_vvma_all(); /* of this VMID; a range would only be cheaper */
}

/* Until the other harts have taken it. They may be waiting for us: serve our own mail meanwhile. */
static void wait_for_one(struct vcpu *self, struct vcpu *target, uint64_t fid)
{
	/* It cannot run before this hart, or the one it moves to, has served it. */
	if (vcpu_home(target) == self->home)
		return;
	while (atomic_load(&target->requests) & fences[fid].request)
		sched_check_mail();
}

VSBI_FN(vsbi_rfence)
{
	struct vcpu *vcpu = this_vcpu();

	/* The HFENCE functions are for hypervisors; guests have no H extension. */
	if (fid > SBI_RFENCE_SFENCE_VMA_ASID)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (!vsbi_for_each_hart(vcpu, a0, a1, fence_one, fid))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	vsbi_for_each_hart(vcpu, a0, a1, wait_for_one, fid);
	return vsbi_result(SBI_SUCCESS, 0);
}
