/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include <string.h>
#include "core/hpm_failures.h"
#include "core/sched.h"
#include "core/trace.h"
#include "core/vcpu.h"
#include "core/vcpu_move.h"
#include "core/vcpu_registers.h"
#include "core/vm.h"
#include "core/vm_overflow.h"
#include "core/vs_interrupts.h"

void vcpu_reset(struct vcpu *vcpu, uint64_t pc, uint64_t a1)
{
	memset(vcpu->ctx.x, 0, sizeof(vcpu->ctx.x));
	vcpu->ctx.x[REG_A0] = vcpu->id;
	vcpu->ctx.x[REG_A1] = a1;
	vs_state_reset(&vcpu->vs, pc);
	vcpu->timer = ~0UL;
	vcpu->look_at = ~0UL;
	vcpu->lcofi.held = false;
	vcpu->lcofi.window_end = 0;
	vcpu->wfi_traps = true;
	vcpu_registers_reset(vcpu);
	vcpu->suspect = false;
	vcpu->lcofi_hidden = false;
	vcpu->traps_in_row = 0;
	vcpu->call.slice = NULL;
}

/*
 * Two vcpus of one VM may give one ASID to two address spaces; without VMIDs (all have number 0)
 * that is so for any two, memory included. Then the last one's translations must go. And the first
 * time under each VMID: the boot hart has made the G-stage table with no fence on this one.
 */
static void fence_if_strange(const struct vcpu *vcpu)
{
	const void **last = &vcpu->home->last_of_vmid[vcpu->vm->vmid];

	if (*last == vcpu)
		return;
	if (!*last || !vcpu->vm->vmid)
		hfence_gvma_all();
	hfence_vvma_all();
	*last = vcpu;
}

void vcpu_load(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	struct vm *vm = vcpu->vm;

	pcpu->current = vcpu;
	if (atomic_load_explicit(&vcpu->hsm_state, memory_order_relaxed) == SBI_HSM_STATE_SUSPENDED)
		atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STARTED);
	vcpu->ctx.hs_sp = (uint64_t)pcpu + HART_STACK_TOP;
	vcpu_registers_load(vcpu);
	reservation_end(&pcpu->scratch);
	/* vsatp is 0 and comes behind hgatp and the fences: a hart may walk its tables at any time, in
	 * HS too, and cache what it finds under hgatp's VMID (privileged manual, "Virtual Supervisor
	 * Address Translation and Protection Register"). */
	csr_write(CSR_HGATP, vm->gstage.hgatp);
	fence_if_strange(vcpu);
	vs_state_load(&vcpu->vs, &pcpu->vs_has);
	csr_write(CSR_HTIMEDELTA, vm->htimedelta);
	vs_interrupts_loaded(pcpu, &vcpu->vs);
	if (vcpu->fw.watched)
		vcpu_fw_load(vcpu);
	vpmu_restore(&vcpu->pmu);
	if (pcpu->n_vcpus == 1)
		vcpu_trap_wfi(vcpu, !vcpu_may_sleep(vcpu));
}

void vcpu_put(struct vcpu *vcpu)
{
	/* Counters first: their overflow must be found while they are this vcpu's. */
	vpmu_save(&vcpu->pmu);
	hpm_failures_settle(vcpu);
	if (vcpu->fw.watched)
		vcpu_fw_put(vcpu);
	vs_state_put(&vcpu->vs, &vcpu->home->vs_has);
	/* Its tables are not walked from here on: they may be cleared, or another's under its VMID.
	 * hgatp may stay: what it leads to is constant after boot, and not in a guest's memory. */
	csr_write(CSR_VSATP, 0);
	vcpu->home->current = NULL;
}

void vcpu_set_virq(struct vcpu *vcpu, uint64_t irq, bool level)
{
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
	if (!vcpu->home->vs_has.sstc)
		return vcpu->timer;
	if (!(vcpu->vs.vsie & BIT(IRQ_STI)) || vcpu->vs.vstimecmp == ~0UL)
		return ~0UL;
	uint64_t host = vcpu->vs.vstimecmp - vcpu->vm->htimedelta;

	/* A compare value in the far past or future may wrap in host time. */
	if (vcpu->vs.vstimecmp <= csr_read(CSR_TIME) + vcpu->vm->htimedelta)
		return 0;
	return host < csr_read(CSR_TIME) ? ~0UL : host;
}

bool vcpu_has_interrupt(const struct vcpu *vcpu)
{
	uint64_t pending = (vcpu->vs.hvip & VS_INTERRUPTS) >> 1;

	pending |= vcpu->vs.hvip & BIT(IRQ_LCOFI);
	if (vcpu->home->vs_has.sstc &&
	    vcpu->vs.vstimecmp <= csr_read(CSR_TIME) + vcpu->vm->htimedelta)
		pending |= BIT(IRQ_STI);
	return pending & vcpu->vs.vsie;
}

void vcpu_emulated(struct vcpu *vcpu, uint32_t length)
{
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + length);
	vpmu_retired(&vcpu->pmu, vcpu_from_user());
}

void vcpu_trap_wfi(struct vcpu *vcpu, bool trap)
{
	vcpu->wfi_traps = trap;
	if (trap)
		csr_set(CSR_HSTATUS, HSTATUS_VTW);
	else
		csr_clear(CSR_HSTATUS, HSTATUS_VTW);
}

bool vcpu_may_sleep(const struct vcpu *vcpu)
{
	/* A hart with several vcpus needs the time in which one of them is idle. */
	return vcpu->home->n_vcpus == 1 && !vpmu_wfi_must_trap(&vcpu->pmu);
}

void vcpu_request(struct vcpu *vcpu, uint64_t requests)
{
	atomic_fetch_or(&vcpu->requests, requests);
	pcpu_notify(vcpu_home(vcpu), BIT(vcpu->index));
}

void vcpu_fence_vm(const struct vcpu *vcpu)
{
	/* The fence is for hgatp's VMID, which must not change under another vcpu's vsatp: who is not
	 * resident is fenced when it is loaded. */
	if (vcpu_is_current(vcpu))
		hfence_vvma_all();
	else
		vcpu->home->last_of_vmid[vcpu->vm->vmid] = vcpu->home;
}

static void serve_start(struct vcpu *vcpu)
{
	/* It may have stopped itself a moment ago and still be on the hart. */
	if (vcpu_is_current(vcpu))
		vcpu_put(vcpu);
	vcpu_reset(vcpu, vcpu->start_pc, vcpu->start_opaque);
	/* As on a hart just reset: nothing cached of what this one, or its VM's last life, ran. */
	fence_i();
	vcpu_fence_vm(vcpu);
	if (vcpu->hart_flags)
		vm_overflow_begin(vcpu);
	sched_set_ready(vcpu);
}

static bool serve(struct vcpu *vcpu)
{
	uint64_t requests;

	/* Nearly always there are none; the atomic swap is left out then. */
	if (!atomic_load_explicit(&vcpu->requests, memory_order_relaxed))
		return false;
	requests = atomic_exchange(&vcpu->requests, 0);
	if (requests & VCPU_REQ_ARRIVE)
		vcpu_arrive(vcpu);
	/* First: whatever else becomes of the vcpu, somebody waits for an answer. */
	if (requests & VCPU_REQ_OBSERVE)
		vcpu_serve_observers(vcpu);
	if (requests & VCPU_REQ_LIFE)
		vm_life_serve(vcpu->vm);
	if (requests & VCPU_REQ_STOP) {
		sched_remove(vcpu);
		return true;
	}
	if (requests & VCPU_REQ_START) {
		unsigned long pending = SBI_HSM_STATE_START_PENDING;

		/* Of an ending VM, or from its last life. */
		if (atomic_load(&vcpu->vm->state) != VM_RUNNING ||
		    !atomic_compare_exchange_strong(&vcpu->hsm_state, &pending,
		                                    SBI_HSM_STATE_STARTED))
			return false;
		serve_start(vcpu);
		/* What was sent to its former life is not for the new one, but levels are. */
		requests = VCPU_REQ_DEVICES;
	}
	if (requests & VCPU_REQ_IPI) {
		vcpu_set_virq(vcpu, IRQ_VSSI, true);
		vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_IPI_RECEIVED);
	}
	if (requests & VCPU_REQ_DEVICES) {
		spin_lock(&vcpu->vm->devices);
		bool level = vplic_output(&vcpu->vm->plic, vcpu->id);
		spin_unlock(&vcpu->vm->devices);
		vcpu_set_virq(vcpu, IRQ_VSEI, level);
	}
	if (requests & VCPU_REQ_FENCE_I)
		fence_i();
	if (requests & VCPU_REQ_VVMA)
		vcpu_fence_vm(vcpu);
	if (requests & VCPU_REQ_FW_FENCE_I)
		vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_FENCE_I_RECEIVED);
	if (requests & VCPU_REQ_FW_VVMA)
		vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_SFENCE_VMA_RECEIVED);
	if (requests & VCPU_REQ_FW_VVMA_ASID)
		vpmu_fw_event(&vcpu->pmu, SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED);
	if (!vcpu_is_current(vcpu))
		sched_wake_if_interrupted(vcpu);
	return false;
}

bool vcpu_serve_requests(struct vcpu *vcpu)
{
	struct pcpu *home = vcpu_home(vcpu);
	bool gone;

	if (home != this_pcpu()) {
		pcpu_notify(home, BIT(vcpu->index));
		return false;
	}
	gone = serve(vcpu);
	if (!vcpu_wants_away(vcpu))
		return gone;
	/* One that is resident leaves at the world switch. */
	if (vcpu_is_current(vcpu))
		pcpu_resched(home);
	else
		vcpu_hand_over(vcpu);
	return true;
}
