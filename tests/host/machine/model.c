/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/machine/model.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"

const uint32_t model_csrs[MODEL_CSRS] = {CSR_VSSTATUS,   CSR_VSIE,    CSR_VSTVEC,   CSR_VSSCRATCH,
                                         CSR_VSEPC,      CSR_VSCAUSE, CSR_VSTVAL,   CSR_VSATP,
                                         CSR_SCOUNTEREN, CSR_SENVCFG, CSR_VSISELECT};

struct model_text model_texts[VM_MAX_VMS];
static struct model_vcpu vcpus[VM_MAX_ALL_VCPUS];

void model_reset(void)
{
	memset(vcpus, 0, sizeof(vcpus));
	model_wake_reset();
	memset(model_texts, 0, sizeof(model_texts));
	model_mail_reset();
	model_ports_reset();
}

struct model_vcpu *model_of(const struct vcpu *vcpu)
{
	return &vcpus[vcpu->index];
}

bool model_is_on(struct vcpu *vcpu)
{
	unsigned long state = vcpu->hsm_state;

	return vcpu->vm->state == VM_RUNNING &&
	       (state == SBI_HSM_STATE_STARTED || state == SBI_HSM_STATE_SUSPENDED);
}

uint32_t model_vmid_of(const struct vcpu *vcpu)
{
	return machine.kind.no_vmids ? 0 : vcpu->vm->index + 1;
}

void model_entered(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	bool new_life = !m->seen || m->life != vcpu->vm->htimedelta;

	if (!machine.booted)
		model_own_frames_begin(-vcpu->vm->htimedelta); /* as the clocks do */
	machine.booted = true;
	h->user = !(h->csr[CSR_SSTATUS] & SSTATUS_SPP);
	model_own_hart(h, vcpu);
	if (new_life || m->off) {
		model_see_fresh(h, vcpu, new_life);
	} else {
		model_see_same(h, vcpu);
		model_lcofi_entered(h, vcpu);
		model_pay_entered(h, vcpu);
		/* What a device wanted may have been done by another vcpu meanwhile. */
		if (m->expect.waits && h->csr[CSR_SEPC] == m->expect.pc[1] &&
		    !model_interrupts(h) &&
		    (vcpu->vm->config->aia || !(h->csr[CSR_VSIE] & BIT(IRQ_SEI))))
			DIFFERS(vcpu, "is awake, and nothing has woken it");
	}
	aia_entered(h, vcpu, new_life);
	model_own_fences(h, vcpu);
	model_pay_times(vcpu);
	model_call_returned(h, vcpu);
	m->in_guest = true;
	m->called_at = h->csr[CSR_SIP] & BIT(IRQ_SSI) ? m->steps + 1 : 0;
	machine_rests(h, true);
	m->ipi.on = false;
	for (uint32_t i = 0; i < MAX_HART_VCPUS && this_pcpu()->vcpus[i]; i++)
		model_of(this_pcpu()->vcpus[i])->wakes.on = false;
	/* An SBI call does not look at it, nor, with an AIA, does a read of a counter
	 * (core/vcpu/vs_interrupts.h). */
	m->masked &= h->csr[CSR_SCAUSE] == CAUSE_ECALL_VS ||
	             (vcpu->vm->config->aia && h->csr[CSR_SCAUSE] == CAUSE_VIRTUAL_INSN);
	m->wants_since = 0;
	m->entered_at = machine.time;
	memset(&m->expect, 0, sizeof(m->expect));
	/* It may fault, or load with a reservation, before anything else. */
	if (percent(&machine.chance, 10))
		h->reserved_by = vcpu;
}

void model_step(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint32_t vmid = model_vmid_of(vcpu);

	m->steps++;
	if (h->vs_cached[vmid] & ~vcpu->bit)
		DIFFERS(vcpu, "uses translations of another vcpu");
	h->vs_cached[vmid] |= vcpu->bit;
	/* While it pends, and is masked, what unmasks it must trap. */
	if (machine.kind.late_unmask && !(h->csr[CSR_HVICTL] & HVICTL_VTI) &&
	    h->csr[CSR_HVIP] & ~h->csr[CSR_VSIE] & BIT(IRQ_LCOFI) && !m->masked)
		DIFFERS(vcpu, "may unmask its LCOFI unseen");
	model_wake_stopi(h, vcpu);
	model_heart_step(vcpu);
	model_alarm_step();
	if (m->ipi_due && !(h->csr[CSR_HVIP] & BIT(IRQ_VSSI)) &&
	    (!(vcpu->requests.pending & REQ_IPI) || model_is_late(&m->ipi)))
		DIFFERS(vcpu, "has lost an IPI");
	if (!m->ipi_due || h->csr[CSR_HVIP] & BIT(IRQ_VSSI))
		m->ipi.on = m->ipi_due = false;
	if (model_is_behind(h, vcpu))
		DIFFERS(vcpu, "goes on without a fence that was done for its sender");
	model_see_memory(vcpu);
	model_wake_neighbours(vcpu);
	model_mail_step(h);
	model_pay_step(vcpu);
	model_lcofi_step(h, vcpu);
}
