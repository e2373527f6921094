/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 4 (Base), and the small extensions TIME (chapter 6) and IPI (chapter 7). */
#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/vsbi/vsbi.h"

/* By the functions that read them. mvendorid, marchid and mimpid are the host's. */
static uint64_t ids[] = {
    [SBI_BASE_GET_IMP_ID] = TALLY_SBI_IMP_ID,
    [SBI_BASE_GET_IMP_VERSION] = TALLY_SBI_IMP_VERSION,
    [SBI_BASE_GET_MIMPID] = 0,
};

void vsbi_base_init(void)
{
	for (uint32_t fid = SBI_BASE_GET_MVENDORID; fid <= SBI_BASE_GET_MIMPID; fid++)
		ids[fid] = sbi_call(SBI_EXT_BASE, fid, 0, 0, 0, 0, 0).value;
}

static VSBI_FN(get_spec_version)
{
	return vsbi_result(SBI_SUCCESS, TALLY_SBI_SPEC);
}

static VSBI_FN(probe_extension)
{
	return vsbi_result(SBI_SUCCESS, a0 && this_vcpu()->vm->sbi[a0 % VSBI_SLOTS].eid == a0);
}

static VSBI_FN(get_id)
{
	return vsbi_result(SBI_SUCCESS, ids[fid]);
}

const struct vsbi_slot vsbi_base = {
    .eid = SBI_EXT_BASE,
    .fn[SBI_BASE_GET_SPEC_VERSION] = get_spec_version,
    .fn[SBI_BASE_GET_IMP_ID] = get_id,
    .fn[SBI_BASE_GET_IMP_VERSION] = get_id,
    .fn[SBI_BASE_PROBE_EXTENSION] = probe_extension,
    .fn[SBI_BASE_GET_MVENDORID] = get_id,
    .fn[SBI_BASE_GET_MARCHID] = get_id,
    .fn[SBI_BASE_GET_MIMPID] = get_id,
};

/* Without Sstc. Not inlined, so that with Sstc set_timer() copies nothing for it. */
static __attribute__((noinline)) vsbi_ret set_own_timer(uint64_t at)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t now = csr_read(CSR_TIME);
	uint64_t guest_now = now + vcpu->vm->htimedelta;

	vcpu_set_virq(vcpu, IRQ_VSTI, at <= guest_now);
	/* A time that the counter cannot reach before it wraps means never. */
	vcpu->timer =
	    at <= guest_now || at - guest_now > ~0UL - now ? ~0UL : now + (at - guest_now);
	pcpu_resched(vcpu->home);
	return vsbi_result(SBI_SUCCESS, 0);
}

/* Section 6.1: sets the timer and clears the pending interrupt. */
static VSBI_FN(set_timer)
{
	struct vcpu *vcpu = this_vcpu();

	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_SET_TIMER);
	if (!vcpu->home->vs_features.sstc)
		return set_own_timer(a0);
	csr_write(CSR_VSTIMECMP, a0);
	return vsbi_result(SBI_SUCCESS, 0);
}

VSBI_FN(vsbi_set_timer_aia)
{
	struct vcpu *vcpu = this_vcpu();

	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_SET_TIMER);
	if (!vcpu->home->vs_features.sstc)
		return set_own_timer(a0);
	vs_interrupts_set_timer(vcpu->home, vcpu, a0);
	return vsbi_result(SBI_SUCCESS, 0);
}

const struct vsbi_slot vsbi_time = {
    .eid = SBI_EXT_TIME,
    .fn[SBI_TIME_SET_TIMER] = set_timer,
};

static void ipi_one(struct vcpu *self, struct vcpu *target, uint64_t arg)
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

/* Not inlined, so that an IPI to the caller itself needs no stack. */
static __attribute__((noinline)) vsbi_ret ipi_all(uint64_t hart_mask, uint64_t hart_mask_base)
{
	if (!vsbi_for_each_hart(this_vcpu(), hart_mask, hart_mask_base, ipi_one, 0))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	return vsbi_result(SBI_SUCCESS, 0);
}

static VSBI_FN(send_ipi)
{
	struct vcpu *vcpu = this_vcpu();

	if (a1 > vcpu->id || BIT(vcpu->id) >> a1 != a0)
		return ipi_all(a0, a1);
	/* ipi_one() for the caller itself: the common case of guests with one vcpu. */
	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_IPI_SENT);
	vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_IPI_RECEIVED);
	csr_set(CSR_HVIP, BIT(IRQ_VSSI));
	return vsbi_result(SBI_SUCCESS, 0);
}

VSBI_FN(vsbi_send_ipi_aia)
{
	vsbi_ret ret = send_ipi(a0, a1, a2, a3, a4, a5, fid, eid);
	struct pcpu *pcpu = this_pcpu();

	/* The IPI may be for the caller itself. */
	if (pcpu->unmask_traps)
		pcpu_resched(pcpu);
	return ret;
}

const struct vsbi_slot vsbi_ipi = {
    .eid = SBI_EXT_IPI,
    .fn[SBI_IPI_SEND_IPI] = send_ipi,
};
