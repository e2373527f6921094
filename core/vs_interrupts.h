/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's sie and sip while a virtual LCOFI pends that it has masked: where its unmasking is
 * not seen by the hart (quirks.late_unmask), each access to the two traps, and Tally makes it.
 *
 * A guest that masks LCOFI while one pends already is caught at its next exit only, SBI calls
 * other than PMU ones left out.
 */
#ifndef CORE_VS_INTERRUPTS_H
#define CORE_VS_INTERRUPTS_H

#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "core/vcpu.h"

/* Do accesses have to trap? Asked where the resident vcpu's LCOFI may have come to pend. */
void vs_interrupts_watch(void);

static inline void vs_interrupts_settle(void)
{
	if (csr_read(CSR_HVIP) & BIT(IRQ_LCOFI) && !(csr_read(CSR_VSIE) & BIT(IRQ_LCOFI)))
		vs_interrupts_watch();
}

/* The VS bank has been loaded. */
void vs_interrupts_loaded(struct pcpu *pcpu, const struct vs_state *vs);

/* A trapped instruction: true if it was an access to sie or sip, which has been made. */
bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn);

#endif
