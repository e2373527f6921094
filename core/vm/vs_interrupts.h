/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's sie and sip while a virtual LCOFI is pending that the guest has masked. Where the
 * hart does not notice when the guest unmasks it (quirks.late_unmask), each access to sie and sip
 * traps, and Tally does it for the guest. Writes to stimecmp trap as well, by the same bit of
 * hvictl.
 *
 * If a guest masks LCOFI while one is pending already, this takes effect at its next exit only. SBI
 * calls other than PMU calls do not count as exits here.
 */
#ifndef CORE_VM_VS_INTERRUPTS_H
#define CORE_VM_VS_INTERRUPTS_H

#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "arch/riscv/quirks.h"
#include "core/vm/vcpu.h"

/* Inlined, so that exits on the fast path need not save registers for a call. */
static inline __attribute__((always_inline)) void vs_interrupts_trap(struct pcpu *pcpu, bool traps)
{
	if (pcpu->unmask_traps == traps)
		return;
	pcpu->unmask_traps = traps;
	csr_write(CSR_HVICTL, traps ? HVICTL_VTI : 0);
}

/* Of hvip or vsie. Shifted to the sign, the bit needs no mask. */
static inline bool vs_lcofi(uint64_t bits)
{
	return (int64_t)(bits << (63 - IRQ_LCOFI)) < 0;
}

/*
 * The resident vcpu's LCOFI pends: do accesses have to trap? Where the guest has it unmasked they
 * do not, nor do they yet: while they trap only Tally unmasks it, and ends that.
 */
static inline __attribute__((always_inline)) void vs_interrupts_pending(void)
{
	if (!vs_lcofi(csr_read(CSR_VSIE)) && quirks.late_unmask)
		vs_interrupts_trap(this_pcpu(), true);
}

/* Asked in exits, where one may have come to pend. */
static inline void vs_interrupts_settle(void)
{
	if (vs_lcofi(csr_read(CSR_HVIP)))
		vs_interrupts_pending();
}

/* Must be called when the VS CSRs have been loaded. */
static inline void vs_interrupts_loaded(struct pcpu *pcpu, const struct vs_state *vs)
{
	/* Nearly always none pends, nor did one in who was here before. */
	if ((vs_lcofi(vs->hvip) || pcpu->unmask_traps) && quirks.late_unmask)
		vs_interrupts_trap(pcpu, vs->hvip & ~vs->vsie & BIT(IRQ_LCOFI));
}

/* Handles a trapped instruction if it is such an access. Returns true if it was. */
bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn);

#endif
