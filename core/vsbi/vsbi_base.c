/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 4 (Base), and the small extensions TIME (chapter 6) and IPI (chapter 7). */
#include "arch/riscv/csr.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"
#include "core/vsbi/vsbi.h"

static struct {
	uint64_t mvendorid, marchid, mimpid;
} ids;

void vsbi_base_init(void)
{
	ids.mvendorid = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_MVENDORID, 0, 0, 0, 0, 0).value;
	ids.marchid = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_MARCHID, 0, 0, 0, 0, 0).value;
	ids.mimpid = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_MIMPID, 0, 0, 0, 0, 0).value;
}

VSBI_FN(vsbi_base)
{
	struct vcpu *vcpu = this_vcpu();

	switch (fid) {
	case SBI_BASE_GET_SPEC_VERSION:
		return vsbi_result(SBI_SUCCESS, TALLY_SBI_SPEC);
	case SBI_BASE_GET_IMP_ID:
		return vsbi_result(SBI_SUCCESS, TALLY_SBI_IMP_ID);
	case SBI_BASE_GET_IMP_VERSION:
		return vsbi_result(SBI_SUCCESS, TALLY_SBI_IMP_VERSION);
	case SBI_BASE_PROBE_EXTENSION:
		return vsbi_result(SBI_SUCCESS, vsbi_has(vcpu->vm, a0));
	case SBI_BASE_GET_MVENDORID:
		return vsbi_result(SBI_SUCCESS, ids.mvendorid);
	case SBI_BASE_GET_MARCHID:
		return vsbi_result(SBI_SUCCESS, ids.marchid);
	case SBI_BASE_GET_MIMPID:
		return vsbi_result(SBI_SUCCESS, ids.mimpid);
	default:
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	}
}

/* Section 6.1: sets the timer and clears the pending timer interrupt. */
VSBI_FN(vsbi_time)
{
	struct vcpu *vcpu = this_vcpu();

	if (fid != SBI_TIME_SET_TIMER)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_SET_TIMER);
	if (vcpu->home->vs_has.sstc) {
		csr_write(CSR_VSTIMECMP, a0);
	} else {
		uint64_t now = csr_read(CSR_TIME);
		uint64_t guest_now = now + vcpu->vm->htimedelta;

		vcpu_set_virq(vcpu, IRQ_VSTI, a0 <= guest_now);
		/* Host time does not reach this value before it wraps, so it means never. */
		vcpu->timer =
		    a0 <= guest_now || a0 - guest_now > ~0UL - now ? ~0UL : now + (a0 - guest_now);
		pcpu_resched(vcpu->home);
	}
	return vsbi_result(SBI_SUCCESS, 0);
}

static void send_ipi(struct vcpu *self, struct vcpu *target, uint64_t arg)
{
	(void)arg;
	vpmu_fw_event(&self->pmu, SBI_PMU_FW_IPI_SENT);
	if (target == self) {
		vcpu_set_virq(self, IRQ_VSSI, true);
		vpmu_fw_event(&self->pmu, SBI_PMU_FW_IPI_RECEIVED);
	} else if (vcpu_is_on(target)) {
		vcpu_send(target, REQ_IPI, REQ_GOT_IPI);
	}
}

/* Not inlined, so that an IPI to the calling vcpu itself needs no stack. */
static __attribute__((noinline)) vsbi_ret send_ipis(struct vcpu *vcpu, uint64_t hart_mask,
                                                    uint64_t hart_mask_base)
{
	if (!vsbi_for_each_hart(vcpu, hart_mask, hart_mask_base, send_ipi, 0))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	return vsbi_result(SBI_SUCCESS, 0);
}

VSBI_FN(vsbi_ipi)
{
	struct vcpu *vcpu = this_vcpu();

	if (fid != SBI_IPI_SEND_IPI)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (a1 > vcpu->id || BIT(vcpu->id) >> a1 != a0)
		return send_ipis(vcpu, a0, a1);
	/* An IPI to the calling vcpu itself, the usual case in guests with one vcpu. */
	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_IPI_SENT);
	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_IPI_RECEIVED);
	csr_set(CSR_HVIP, BIT(IRQ_VSSI));
	return vsbi_result(SBI_SUCCESS, 0);
}
