/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's sie and sip while a virtual LCOFI is pending that the guest has masked. On harts that
 * do not notice when the guest unmasks it (quirks.late_unmask), each access to sie and sip traps,
 * and Tally emulates it. Writes to stimecmp trap as well, by the same bit of hvictl.
 *
 * If a guest masks LCOFI while one is already pending, accesses trap only after its next exit. SBI
 * calls other than PMU calls do not count as exits here.
 */
#ifndef CORE_VCPU_VS_INTERRUPTS_H
#define CORE_VCPU_VS_INTERRUPTS_H

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "arch/riscv/hart/quirks.h"
#include "core/vcpu/vcpu.h"

/* Inlined, so that exits on the fast path need not save registers. */
static inline __attribute__((always_inline)) void vs_interrupts_trap(struct pcpu *pcpu, bool traps)
{
	if (pcpu->unmask_traps == traps)
		return;
	pcpu->unmask_traps = traps;
	csr_write(CSR_HVICTL, traps ? HVICTL_VTI : 0);
}

/* `bits` are of hvip or vsie. Shifting LCOFI to the sign avoids a mask. */
static inline bool vs_lcofi(uint64_t bits)
{
	return (int64_t)(bits << (63 - IRQ_LCOFI)) < 0;
}

/*
 * Called when the resident vcpu's LCOFI is pending: makes accesses trap if the guest has masked
 * LCOFI. If it has not, accesses do not trap now either: while they do, only Tally can unmask
 * LCOFI for the guest, and then ends the trapping.
 */
static inline __attribute__((always_inline)) void vs_interrupts_pending(void)
{
	struct pcpu *pcpu = this_pcpu();

	if (vs_lcofi(csr_read(CSR_VSIE)) || !quirks.late_unmask)
		return;
	if (!pcpu->current->guest_file)
		vs_interrupts_trap(pcpu, true);
	else if (!pcpu->unmask_traps)
		pcpu_resched(pcpu); /* exit_slow() ends with vs_interrupts_settle_aia() */
}

/* Called in exits, because an LCOFI may have become pending. */
static inline __attribute__((always_inline)) void vs_interrupts_settle(void)
{
	if (vs_lcofi(csr_read(CSR_HVIP)))
		vs_interrupts_pending();
}

/* Must be called when the VS CSRs have been loaded. */
static inline void vs_interrupts_loaded(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	const struct vs_state *vs = &vcpu->vs;

	/* Usually neither this vcpu nor the last one has a pending LCOFI. */
	if ((vs_lcofi(vs->hvip) || pcpu->unmask_traps) && quirks.late_unmask)
		vs_interrupts_trap(pcpu,
		                   !vcpu->guest_file && vs->hvip & ~vs->vsie & BIT(IRQ_LCOFI));
}

/*
 * A guest with an AIA reads stopi to find its next interrupt. While hvictl.VTI is set, stopi
 * reports only external interrupts and the one that hvictl names, whatever else is pending. So
 * Tally names the one with the highest priority in hvictl, and must see each change of them: the
 * guest's accesses trap, and HS provides its timer meanwhile. For such a vcpu, ..._settle_aia()
 * replaces vs_interrupts_settle(), in exit_slow() only; ..._put_aia() comes before vs_state_put()
 * saves its state; and ..._set_timer() is SET_TIMER.
 */
void vs_interrupts_settle_aia(struct pcpu *pcpu, struct vcpu *vcpu);
void vs_interrupts_put_aia(struct pcpu *pcpu, struct vcpu *vcpu);
void vs_interrupts_set_timer(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t at);

/* Emulates a trapped instruction if it accesses one of these CSRs. Returns true if it does. */
bool vs_interrupts_access(struct vcpu *vcpu, const struct insn *insn);

#endif
