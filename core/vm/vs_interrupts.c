/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/quirks.h"
#include "core/vm/vs_interrupts.h"

/*
 * The access, on the VS register that stands behind the guest's; what it reads. Set and clear as
 * they are, not as a write of the whole: an interrupt may come to pend in between.
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
 * AIA, on hvictl: with VTI what traps is each access to sie and sip, and each write of a register
 * by which a bit of vsip other than SEIP could become 0, which is stimecmp.
 */
static bool trapped_by_vti(const struct insn *insn)
{
	return insn->csr == CSR_SIE || insn->csr == CSR_SIP ||
	       (insn->csr == CSR_STIMECMP && this_pcpu()->vs_has.sstc);
}

bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn)
{
	uint64_t operand, old;

	/* VU has no right to any, and an access that the hart would not trap was not one of those.
	 */
	if (insn->kind != INSN_CSR || !trapped_by_vti(insn) || vcpu_from_user() ||
	    !this_pcpu()->unmask_traps)
		return false;
	operand = insn->csr_imm ? insn->csr_src : vcpu->ctx.x[insn->csr_src];
	if (insn->csr == CSR_SIE)
		old = ACCESS(CSR_VSIE, insn, operand);
	else if (insn->csr == CSR_SIP)
		old = ACCESS(CSR_VSIP, insn, operand);
	else
		old = ACCESS(CSR_VSTIMECMP, insn, operand);
	if (insn->reg)
		vcpu->ctx.x[insn->reg] = old;
	vcpu_emulated(vcpu, insn->length);
	vs_interrupts_trap(this_pcpu(), csr_read(CSR_HVIP) & ~csr_read(CSR_VSIE) & BIT(IRQ_LCOFI));
	return true;
}
