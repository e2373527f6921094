/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/quirks.h"
#include "core/vs_interrupts.h"

/* Set and clear as they are, not as a write of the whole: an interrupt may come in between. */
static void access_sie(const struct insn *insn, uint64_t operand)
{
	if (insn->csr_op == INSN_CSR_RW)
		csr_write(CSR_VSIE, operand);
	else if (insn->csr_op == INSN_CSR_RS)
		csr_set(CSR_VSIE, operand);
	else
		csr_clear(CSR_VSIE, operand);
}

static void access_sip(const struct insn *insn, uint64_t operand)
{
	if (insn->csr_op == INSN_CSR_RW)
		csr_write(CSR_VSIP, operand);
	else if (insn->csr_op == INSN_CSR_RS)
		csr_set(CSR_VSIP, operand);
	else
		csr_clear(CSR_VSIP, operand);
}

bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn)
{
	uint64_t operand, old;

	/* VU has no right to either, and an access that the hart would not trap was not one of
	 * those. */
	if (insn->kind != INSN_CSR || (insn->csr != CSR_SIE && insn->csr != CSR_SIP) ||
	    vcpu_from_user() || !this_pcpu()->unmask_traps)
		return false;
	operand = insn->csr_imm ? insn->csr_src : vcpu->ctx.x[insn->csr_src];
	old = insn->csr == CSR_SIE ? csr_read(CSR_VSIE) : csr_read(CSR_VSIP);
	if (insn->csr_writes && insn->csr == CSR_SIE)
		access_sie(insn, operand);
	else if (insn->csr_writes)
		access_sip(insn, operand);
	if (insn->reg)
		vcpu->ctx.x[insn->reg] = old;
	vcpu_emulated(vcpu, insn->length);
	vs_interrupts_watch();
	return true;
}
