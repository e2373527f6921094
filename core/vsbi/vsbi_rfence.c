/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 chapter 8 (RFENCE). A fence on another vcpu takes effect before that vcpu's next
 * instruction. If the vcpu is resident on another hart now, that hart is interrupted and the caller
 * waits. If not, the fence is pending until the vcpu's next time slice. The caller waits in slices
 * (core/vcpu/long_call.h), so a hart that does not answer keeps only this VM waiting.
 */
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/csr.h"
#include "core/dispatch/exit.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "vpmu/bits.h"

/* Looks in a slice, of about 25 instructions each. A hart that answers does so sooner. */
#define LOOKS 100U

/* A hart that has not answered for this long is told, once. */
#define TOLD_S 10U

#define FIDS 4U

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
		self->call.left |= BIT(target->id);
		return;
	}
	vpmu_fw_event(&self->pmu, fence->fw_received);
	if (fid == SBI_RFENCE_FENCE_I)
		fence_i();
	else
		hfence_vvma_all(); /* of the VMID in hgatp; fencing a range would only be cheaper */
}

/*
 * Looks whether the other harts have done the fence. Their vcpus may wait for this one, so it
 * serves the fences sent to it meanwhile. Other requests are served only between two slices.
 * Returns whether a vcpu in call.left has not done it.
 */
static bool is_waiting(struct vcpu *self, uint64_t fid)
{
	for (uint32_t n = 0; n < LOOKS && self->call.left; n++) { /* WAITS */
		struct vcpu *target = self->vm->vcpus[lowest_bit(self->call.left)];

		if (requests_are_pending(&target->requests, fences[fid].request))
			vcpu_serve_fences(self);
		else
			self->call.left &= self->call.left - 1;
	}
	return self->call.left;
}

/* A slice. call.at is the function and FIDS times the host time at which to tell; 0: it was told.
 */
static bool wait_more(struct vcpu *self)
{
	struct long_call *call = &self->call;
	uint64_t fid = call->at % FIDS, at = call->at / FIDS;
	const struct vcpu *target;

	if (!is_waiting(self, fid))
		return false;
	if (!at || csr_read(CSR_TIME) < at)
		return true;
	call->at = fid;
	target = self->vm->vcpus[lowest_bit(call->left)];
	log_line("vm %s: a fence of vcpu %u waits: hart %lu has not answered for %u s",
	         self->vm->config->name, self->id, vcpu_home(target)->hartid, TOLD_S);
	return true;
}

static VSBI_FN(remote_fence)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t at;

	vcpu->call.left = 0;
	if (!vsbi_for_each_hart(vcpu, a0, a1, fence_one, fid))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (vcpu->call.left && is_waiting(vcpu, fid)) {
		at = csr_read(CSR_TIME) + (uint64_t)platform.timebase * TOLD_S;
		long_call_begin(vcpu, &(struct long_call){.slice = wait_more,
		                                          .at = at * FIDS + fid,
		                                          .left = vcpu->call.left});
	}
	return vsbi_result(SBI_SUCCESS, 0);
}

/* Without the HFENCE functions, which are for hypervisors: guests have no H extension. */
const struct vsbi_slot vsbi_rfence = {
    .eid = SBI_EXT_RFENCE,
    .fn[SBI_RFENCE_FENCE_I] = remote_fence,
    .fn[SBI_RFENCE_SFENCE_VMA] = remote_fence,
    .fn[SBI_RFENCE_SFENCE_VMA_ASID] = remote_fence,
};
