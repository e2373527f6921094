/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 chapter 8 (RFENCE). A fence on another vcpu takes effect before that vcpu's next
 * instruction. If the vcpu is resident on another hart now, that hart is interrupted and the caller
 * waits. If not, the fence is pending until the vcpu's next time slice.
 */
#include "arch/riscv/hart/fence.h"
#include "core/dispatch/serve_requests.h"
#include "core/vcpu/vcpu_requests.h"
#include "core/vsbi/vsbi.h"

struct fence {
	uint32_t fw_sent, fw_received; /* firmware events */
	uint64_t request;
	uint32_t got;
};

static const struct fence fences[] = {
    [SBI_RFENCE_FENCE_I] = {SBI_PMU_FW_FENCE_I_SENT, SBI_PMU_FW_FENCE_I_RECEIVED, REQ_FENCE_I,
                            REQ_GOT_FENCE_I},
    [SBI_RFENCE_SFENCE_VMA] = {SBI_PMU_FW_SFENCE_VMA_SENT, SBI_PMU_FW_SFENCE_VMA_RECEIVED, REQ_VVMA,
                               REQ_GOT_VVMA},
    [SBI_RFENCE_SFENCE_VMA_ASID] = {SBI_PMU_FW_SFENCE_VMA_ASID_SENT,
                                    SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED, REQ_VVMA,
                                    REQ_GOT_VVMA_ASID},
};

static void fence_one(struct vcpu *self, struct vcpu *target, uint64_t fid)
{
	const struct fence *fence = &fences[fid];

	vpmu_fw_event(&self->pmu, fence->fw_sent);
	if (target != self) {
		if (vcpu_is_on(target))
			vcpu_send(target, fence->request, fence->got);
		return;
	}
	vpmu_fw_event(&self->pmu, fence->fw_received);
	if (fid == SBI_RFENCE_FENCE_I)
		fence_i();
	else
		hfence_vvma_all(); /* of the VMID in hgatp; fencing a range would only be cheaper */
}

/*
 * Waits until the other harts have done the fence. Their vcpus may wait for this one, so it serves
 * the fences sent to it meanwhile. Other requests are not served in the middle of a call, because
 * the call must return to this vcpu on this hart.
 */
static void wait_for_one(struct vcpu *self, struct vcpu *target, uint64_t fid)
{
	while (target != self && requests_are_pending(&target->requests, fences[fid].request))
		vcpu_serve_fences(self);
}

static VSBI_FN(remote_fence)
{
	struct vcpu *vcpu = this_vcpu();

	if (!vsbi_for_each_hart(vcpu, a0, a1, fence_one, fid))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	vsbi_for_each_hart(vcpu, a0, a1, wait_for_one, fid);
	return vsbi_result(SBI_SUCCESS, 0);
}

/* Without the HFENCE functions, which are for hypervisors: guests have no H extension. */
const struct vsbi_slot vsbi_rfence = {
    .eid = SBI_EXT_RFENCE,
    .fn =
        {
            [SBI_RFENCE_FENCE_I] = remote_fence,
            [SBI_RFENCE_SFENCE_VMA] = remote_fence,
            [SBI_RFENCE_SFENCE_VMA_ASID] = remote_fence,
        },
};
