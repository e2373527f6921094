/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopi of a guest with an AIA, while accesses to its sie and sip trap (vs_interrupts.h).
 *
 * Meanwhile henvcfg.STCE is 0 if the hart has Sstc: stimecmp traps as well, its value is in
 * vcpu->vs.vstimecmp, and VSTIP is a bit of hvip, which Tally sets when the host's timer expires.
 * The guest's enabled interrupts other than LCOFI, which it has masked, change only by its trapped
 * accesses, by SBI calls, and by requests. All of these lead to exit_slow() and so to this file,
 * before the guest's next instruction.
 */
#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"

/* Sets VSTIP to its current value, and the host's timer to the time at which VSTIP changes. */
static void keep_timer(const struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t at = vcpu->vs.vstimecmp, now, guest_now;

	if (!pcpu->vs_features.sstc)
		return; /* HS provides the timer anyway */
	now = csr_read(CSR_TIME);
	guest_now = now + vcpu->vm->htimedelta;
	vcpu_set_virq(vcpu, IRQ_VSTI, at <= guest_now);
	/* If no host time reaches the value before the counter wraps, it means never. */
	vcpu->timer =
	    at <= guest_now || at - guest_now > ~0UL - now ? ~0UL : now + (at - guest_now);
	/* The scheduler may have set an earlier time. */
	if (vcpu->timer < csr_read(CSR_STIMECMP))
		csr_write(CSR_STIMECMP, vcpu->timer);
}

static void take_timer(const struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (!pcpu->vs_features.sstc)
		return;
	vcpu->vs.vstimecmp = csr_read(CSR_VSTIMECMP);
	csr_write(CSR_VSTIMECMP, ~0UL);
	csr_clear(CSR_HENVCFG, HENVCFG_STCE);
}

static void give_back_timer(const struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (!pcpu->vs_features.sstc)
		return;
	vcpu->timer = ~0UL;
	vcpu_set_virq(vcpu, IRQ_VSTI, false);
	csr_set(CSR_HENVCFG, HENVCFG_STCE);
	csr_write(CSR_VSTIMECMP, vcpu->vs.vstimecmp);
}

/* Names the interrupt with the highest priority in hvictl. External ones are left out: stopi
 * reports them itself, and they come first in the default order. */
static void name_interrupt(void)
{
	uint64_t pending = csr_read(CSR_VSIP) & csr_read(CSR_VSIE);
	uint64_t iid = pending & BIT(IRQ_SSI) ? IRQ_SSI : pending & BIT(IRQ_STI) ? IRQ_STI : 0;

	csr_write(CSR_HVICTL, HVICTL_VTI | iid << HVICTL_IID_SHIFT | HVICTL_LEAST);
}

void vs_interrupts_put_aia(struct pcpu *pcpu, struct vcpu *vcpu)
{
	give_back_timer(pcpu, vcpu);
	vs_interrupts_trap(pcpu, false);
}

void vs_interrupts_settle_aia(struct pcpu *pcpu, struct vcpu *vcpu)
{
	bool traps =
	    quirks.late_unmask && csr_read(CSR_HVIP) & ~csr_read(CSR_VSIE) & BIT(IRQ_LCOFI);

	if (!traps) {
		if (pcpu->unmask_traps)
			vs_interrupts_put_aia(pcpu, vcpu);
		return;
	}
	if (!pcpu->unmask_traps)
		take_timer(pcpu, vcpu);
	pcpu->unmask_traps = true;
	keep_timer(pcpu, vcpu);
	name_interrupt();
}

void vs_interrupts_set_timer(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t at)
{
	if (!pcpu->unmask_traps) {
		csr_write(CSR_VSTIMECMP, at);
		return;
	}
	vcpu->vs.vstimecmp = at;
	pcpu_resched(pcpu);
}
