/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapters 9 (HSM) and 10 (SRST): life and death of vcpus and of the VM. */
#include "arch/riscv/csr.h"
#include "core/guest_mem.h"
#include "core/sched.h"
#include "core/vm.h"
#include "core/vsbi.h"

static vsbi_ret hart_start(struct vcpu *vcpu, uint64_t hartid, uint64_t pc, uint64_t opaque)
{
	unsigned long stopped = SBI_HSM_STATE_STOPPED;

	if (hartid >= vcpu->vm->config->n_vcpus)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (!guest_mem(vcpu->vm, (gpa_t){pc}, 2) || (pc & 1))
		return vsbi_result(SBI_ERR_INVALID_ADDRESS, 0);
	struct vcpu *target = vcpu->vm->vcpus[hartid];

	if (atomic_load(&vcpu->vm->ending))
		return vsbi_result(SBI_ERR_FAILED, 0);
	if (!atomic_compare_exchange_strong(&target->hsm_state, &stopped,
	                                    SBI_HSM_STATE_START_PENDING))
		return vsbi_result(SBI_ERR_ALREADY_AVAILABLE, 0);
	target->start_pc = pc;
	target->start_opaque = opaque;
	vcpu_request(target, VCPU_REQ_START);
	return vsbi_result(SBI_SUCCESS, 0);
}

/* Section 9.2. Everything of the vcpu is forgotten, its PMU included. */
static vsbi_ret hart_stop(struct vcpu *vcpu)
{
	vpmu_reset(&vcpu->pmu);
	atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STOPPED);
	sched_off(vcpu);
	return vsbi_result(SBI_SUCCESS, 0);
}

/* Section 9.4. Retentive suspend is WFI; resuming elsewhere is not offered. */
static vsbi_ret hart_suspend(struct vcpu *vcpu, uint64_t type)
{
	if (type > 0xffffffffUL || (type > SBI_HSM_SUSPEND_RETENTIVE && type < 0x10000000UL) ||
	    (type > SBI_HSM_SUSPEND_NON_RETENTIVE && type < 0x90000000UL))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (type != SBI_HSM_SUSPEND_RETENTIVE)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (!(csr_read(CSR_VSIP) & csr_read(CSR_VSIE))) {
		atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_SUSPENDED);
		sched_wait(vcpu);
	}
	return vsbi_result(SBI_SUCCESS, 0);
}

VSBI_FN(vsbi_hsm)
{
	struct vcpu *vcpu = this_vcpu();

	switch (fid) {
	case SBI_HSM_HART_START:
		return hart_start(vcpu, a0, a1, a2);
	case SBI_HSM_HART_STOP:
		return hart_stop(vcpu);
	case SBI_HSM_HART_GET_STATUS:
		if (a0 >= vcpu->vm->config->n_vcpus)
			return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
		return vsbi_result(SBI_SUCCESS, atomic_load(&vcpu->vm->vcpus[a0]->hsm_state));
	case SBI_HSM_HART_SUSPEND:
		return hart_suspend(vcpu, a0);
	default:
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	}
}

/* Section 10.1: concerns this guest alone. A restart is not offered yet: it ends the VM, which is
 * then said to have failed, so that a guest that panics does not hang. */
VSBI_FN(vsbi_srst)
{
	struct vm *vm = this_vcpu()->vm;
	uint64_t type = a0, reason = a1;

	if (fid != SBI_SRST_RESET)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (type > 0xffffffffUL || reason > 0xffffffffUL ||
	    (type > SBI_SRST_WARM_REBOOT && type < 0xf0000000UL) ||
	    (reason > SBI_SRST_REASON_SYSFAIL && reason < 0xe0000000UL))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (type > SBI_SRST_WARM_REBOOT)
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (type != SBI_SRST_SHUTDOWN)
		vm_end(vm, "asked to be restarted, which is not offered; reset type", type);
	else if (reason != SBI_SRST_REASON_NONE)
		vm_end(vm, "shut down with reset reason", reason);
	else
		vm_end(vm, NULL, 0);
	return vsbi_result(SBI_SUCCESS, 0);
}
