/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include <string.h>
#include "core/hart/check.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vcpu_registers.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "vpmu/bits.h"
#include "vpmu/retired.h"

void vcpu_reset(struct vcpu *vcpu, uint64_t pc, uint64_t a1)
{
	memset(vcpu->ctx.x, 0, sizeof(vcpu->ctx.x));
	vcpu->ctx.x[REG_A0] = vcpu->id;
	vcpu->ctx.x[REG_A1] = a1;
	vs_state_reset(&vcpu->vs, pc);
	vcpu->vs.hstatus |= (uint64_t)vcpu->guest_file << HSTATUS_VGEIN_SHIFT;
	vcpu->timer = ~0UL;
	vcpu->poll_at = ~0UL;
	vcpu->lcofi.held = false;
	vcpu->lcofi.window_end = 0;
	vpmu_note_wfi(&vcpu->pmu, true);
	vcpu_registers_reset(vcpu);
	vcpu->trap_loop_suspect = false;
	vcpu->lcofi_hidden = false;
	vcpu->traps_in_row = 0;
	vcpu->call.slice = NULL;
	vcpu->call.cause = EXIT_ECALL;
}

uint64_t vcpu_next_deadline(const struct vcpu *vcpu)
{
	uint64_t lcofi = vcpu->lcofi.held ? vcpu->lcofi.window_end : ~0UL;
	/* A sleeping vcpu needs no new period. The period begins when the vcpu wakes. */
	uint64_t budget = vcpu->run.blocked & BLOCK_IDLE ? ~0UL : vcpu->budget.check_at;

	return lcofi < budget ? lcofi : budget;
}

void vcpu_set_virq(struct vcpu *vcpu, uint64_t irq, bool level)
{
	CHECK(vcpu->home == this_pcpu());
	if (vcpu_is_current(vcpu)) {
		if (level)
			csr_set(CSR_HVIP, BIT(irq));
		else
			csr_clear(CSR_HVIP, BIT(irq));
	} else if (level) {
		vcpu->vs.hvip |= BIT(irq);
	} else {
		vcpu->vs.hvip &= ~BIT(irq);
	}
}

uint64_t vcpu_timer_deadline(const struct vcpu *vcpu)
{
	if (!vcpu->home->vs_features.sstc)
		return vcpu->timer;
	if (!(vcpu->vs.vsie & BIT(IRQ_STI)) || vcpu->vs.vstimecmp == ~0UL)
		return ~0UL;
	uint64_t host = vcpu->vs.vstimecmp - vcpu->vm->htimedelta;
	/* Read once: a timer that expires between two reads would seem to be in the far future. */
	uint64_t now = csr_read(CSR_TIME);

	/* A compare value in the far past or future may wrap in host time. */
	if (vcpu->vs.vstimecmp <= now + vcpu->vm->htimedelta)
		return 0;
	return host < now ? ~0UL : host;
}

void vcpu_wake_in_windows(const struct vcpu *vcpu, uint64_t at)
{
	uint32_t i;

	for_each_bit (i, vcpu->wake_sets)
		wake_times_set(&vcpu->home->window_wakes[i], vcpu->index, at);
}

bool vcpu_has_interrupt(const struct vcpu *vcpu)
{
	uint64_t pending = (vcpu->vs.hvip & VS_INTERRUPTS) >> 1;

	pending |= vcpu->vs.hvip & BIT(IRQ_LCOFI);
	if (vcpu->home->vs_features.sstc &&
	    vcpu->vs.vstimecmp <= csr_read(CSR_TIME) + vcpu->vm->htimedelta)
		pending |= BIT(IRQ_STI);
	if (vcpu->guest_file && guest_file_is_pending(vcpu))
		pending |= BIT(IRQ_SEI);
	return pending & vcpu->vs.vsie;
}

uint64_t vcpu_wake_requests(const struct vcpu *vcpu)
{
	return (vcpu->vs.vsie & BIT(IRQ_SSI) ? REQ_IPI : 0) |
	       (vcpu->vs.vsie & BIT(IRQ_SEI) ? REQ_DEVICES : 0);
}

/* The only call is at the end, so no stack is needed. */
__attribute__((flatten)) void vcpu_emulated(struct vcpu *vcpu, uint32_t length)
{
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + length);
	vpmu_retired(&vcpu->pmu, vcpu_from_user());
}

void vcpu_set_vtw(struct vcpu *vcpu, bool trap)
{
	if (trap) {
		vcpu->vs.hstatus |= HSTATUS_VTW;
		csr_set(CSR_HSTATUS, HSTATUS_VTW);
	} else {
		vcpu->vs.hstatus &= ~HSTATUS_VTW;
		csr_clear(CSR_HSTATUS, HSTATUS_VTW);
	}
}

void vcpu_trap_wfi(struct vcpu *vcpu, bool trap)
{
	vpmu_note_wfi(&vcpu->pmu, trap);
	vcpu_set_vtw(vcpu, trap);
}

bool vcpu_may_sleep(const struct vcpu *vcpu)
{
	/* If the hart has several vcpus, another one may use the time in which this one sleeps. */
	return vcpu->home->n_vcpus == 1 && !vpmu_wfi_must_trap(&vcpu->pmu);
}

void vcpu_fence_vm(const struct vcpu *vcpu)
{
	const void **last = &vcpu->home->last_of_vmid[vcpu->vm->vmid];

	/* The fence applies to the VMID in hgatp, which must not change while another vcpu's vsatp
	 * is loaded. So a vcpu that is not resident is fenced when it is loaded. If no vcpu has run
	 * under this VMID, *last stays NULL, and the load fences both stages. */
	if (vcpu_is_current(vcpu))
		hfence_vvma_all();
	else if (*last)
		*last = vcpu->home;
}
