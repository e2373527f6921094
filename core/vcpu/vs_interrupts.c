/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vs_interrupts.h"

/*
 * Executes the access on the VS register behind the guest's register, and returns the old value.
 * Set and clear are not turned into a write, because an interrupt may become pending in between.
 */
#define ACCESS(csr, insn, operand)                                                                 \
	({                                                                                         \
		uint64_t old_ = csr_read(csr);                                                     \
		if (!(insn)->csr_writes)                                                           \
			;                                                                          \
		else if ((insn)->csr_op == INSN_CSR_RW)                                            \
			csr_write(csr, operand);                                                   \
		else if ((insn)->csr_op == INSN_CSR_RS)                                            \
			csr_set(csr, operand);                                                     \
		else                                                                               \
			csr_clear(csr, operand);                                                   \
		old_;                                                                              \
	})

/*
 * hvictl.VTI (AIA) makes each access to sie and sip trap, and each write to a register that could
 * clear a bit of vsip other than SEIP: stimecmp.
 */
static bool trapped_by_vti(const struct insn *insn)
{
	return insn->csr == CSR_SIE || insn->csr == CSR_SIP ||
	       (insn->csr == CSR_STIMECMP && this_pcpu()->vs_features.sstc);
}

/* HS provides the timer meanwhile, see vs_aia.c. */
static uint64_t access_timer(struct vcpu *vcpu, const struct insn *insn, uint64_t operand)
{
	uint64_t old = vcpu->vs.vstimecmp, value = operand;

	if (insn->csr_op == INSN_CSR_RS)
		value = old | operand;
	else if (insn->csr_op == INSN_CSR_RC)
		value = old & ~operand;
	if (insn->csr_writes)
		vcpu->vs.vstimecmp = value;
	return old;
}

bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn)
{
	uint64_t operand, old;

	/* VU-mode may not access these CSRs. Accesses that hvictl does not trap are not handled
	 * here. */
	if (insn->kind != INSN_CSR || !trapped_by_vti(insn) || vcpu_from_user() ||
	    !this_pcpu()->unmask_traps)
		return false;
	operand = insn->csr_imm ? insn->csr_src : vcpu->ctx.x[insn->csr_src];
	if (insn->csr == CSR_SIE)
		old = ACCESS(CSR_VSIE, insn, operand);
	else if (insn->csr == CSR_SIP)
		old = ACCESS(CSR_VSIP, insn, operand);
	else if (vcpu->guest_file)
		old = access_timer(vcpu, insn, operand);
	else
		old = ACCESS(CSR_VSTIMECMP, insn, operand);
	if (insn->reg)
		vcpu->ctx.x[insn->reg] = old;
	vcpu_emulated(vcpu, insn->length);
	if (!vcpu->guest_file)
		vs_interrupts_trap(this_pcpu(),
		                   csr_read(CSR_HVIP) & ~csr_read(CSR_VSIE) & BIT(IRQ_LCOFI));
	return true;
}
