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
#ifndef CORE_VCPU_VS_INTERRUPTS_H
#define CORE_VCPU_VS_INTERRUPTS_H

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "arch/riscv/hart/quirks.h"
#include "core/vcpu/vcpu.h"

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
	struct pcpu *pcpu = this_pcpu();

	if (vs_lcofi(csr_read(CSR_VSIE)) || !quirks.late_unmask)
		return;
	if (!pcpu->current->guest_file)
		vs_interrupts_trap(pcpu, true);
	else if (!pcpu->unmask_traps)
		pcpu_resched(pcpu); /* exit_long() ends with vs_interrupts_settle_aia() */
}

/* Asked in exits, where one may have come to pend. */
static inline __attribute__((always_inline)) void vs_interrupts_settle(void)
{
	if (vs_lcofi(csr_read(CSR_HVIP)))
		vs_interrupts_pending();
}

/* Must be called when the VS CSRs have been loaded. */
static inline void vs_interrupts_loaded(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	const struct vs_state *vs = &vcpu->vs;

	/* Nearly always none pends, nor did one in who was here before. */
	if ((vs_lcofi(vs->hvip) || pcpu->unmask_traps) && quirks.late_unmask)
		vs_interrupts_trap(pcpu,
		                   !vcpu->guest_file && vs->hvip & ~vs->vsie & BIT(IRQ_LCOFI));
}

/*
 * A guest with an AIA finds out by stopi what interrupts it, and while hvictl.VTI is set stopi
 * tells of external interrupts and of the one that hvictl names, whatever else pends. So Tally
 * names the one with the highest priority, and sees each change of them: the guest's accesses trap,
 * and Tally has its timer meanwhile. These are vs_interrupts_settle() for such a vcpu, in
 * exit_long() alone; what must be called before vs_state_put() takes its state; and SET_TIMER.
 */
void vs_interrupts_settle_aia(struct pcpu *pcpu, struct vcpu *vcpu);
void vs_interrupts_put_aia(struct pcpu *pcpu, struct vcpu *vcpu);
void vs_interrupts_set_timer(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t at);

/* Handles a trapped instruction if it is such an access. Returns true if it was. */
bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn);

#endif
