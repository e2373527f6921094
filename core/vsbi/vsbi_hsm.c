/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapters 9 (HSM) and 10 (SRST): start and stop of vcpus, and the end of the VM. */
#include "arch/riscv/hart/csr.h"
#include "core/sched/sched.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "core/watch/observe.h"

/* Whether a vcpu can start at this address. */
static bool is_entry(const struct vm *vm, uint64_t pc)
{
	return guest_mem(vm, (gpa_t){pc}, 2) && !(pc & 1);
}

static VSBI_FN(hart_start)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t hartid = a0, pc = a1, opaque = a2;
	unsigned long stopped = SBI_HSM_STATE_STOPPED;

	if (hartid >= vcpu->vm->config->n_vcpus)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (!is_entry(vcpu->vm, pc))
		return vsbi_result(SBI_ERR_INVALID_ADDRESS, 0);
	struct vcpu *target = vcpu->vm->vcpus[hartid];

	if (atomic_load(&vcpu->vm->state) != VM_RUNNING)
		return vsbi_result(SBI_ERR_FAILED, 0);
	if (!atomic_compare_exchange_strong(&target->hsm_state, &stopped, HSM_CLAIMED))
		return vsbi_result(SBI_ERR_ALREADY_AVAILABLE, 0);
	target->start_pc = pc;
	target->start_opaque = opaque;
	/* docs/memory-order.md, "Start" */
	atomic_store(&target->hsm_state, SBI_HSM_STATE_START_PENDING);
	vcpu_request(target, REQ_START);
	return vsbi_result(SBI_SUCCESS, 0);
}

static bool all_stopped(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (atomic_load(&vm->vcpus[i]->hsm_state) != SBI_HSM_STATE_STOPPED)
			return false;
	}
	return true;
}

/* Section 9.2. Drops all state of the vcpu, including its PMU. */
static VSBI_FN(hart_stop)
{
	struct vcpu *vcpu = this_vcpu();

	vcpu_end_observers(vcpu);
	vpmu_reset(&vcpu->pmu);
	atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STOPPED);
	sched_off(vcpu);
	/* No vcpu is left that could start another one. If two stop at once, the later one sees the
	 * other stopped (docs/memory-order.md, "Start"). */
	if (all_stopped(vcpu->vm))
		vm_end(vcpu->vm, vcpu, VM_END_ALL_STOPPED, NULL, 0);
	return vsbi_result(SBI_SUCCESS, 0);
}

static VSBI_FN(hart_get_status)
{
	const struct vm *vm = this_vcpu()->vm;
	unsigned long state;

	if (a0 >= vm->config->n_vcpus)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	state = atomic_load(&vm->vcpus[a0]->hsm_state);
	return vsbi_result(SBI_SUCCESS, state == HSM_CLAIMED ? SBI_HSM_STATE_START_PENDING : state);
}

static void sleep(struct vcpu *vcpu)
{
	if (csr_read(CSR_VSIP) & csr_read(CSR_VSIE))
		return;
	atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_SUSPENDED);
	sched_wait(vcpu);
}

/*
 * Section 9.4. Retentive suspend is WFI. Non-retentive suspend may leave all registers undefined
 * except those of table 10. They are set here already: sleep() only marks the vcpu as blocked, and
 * it leaves the hart after the call. No other register is changed. All other types are reserved, or
 * platform-specific and not implemented: SBI_ERR_INVALID_PARAM.
 */
static VSBI_FN(hart_suspend)
{
	struct vcpu *vcpu = this_vcpu();
	uint32_t type = (uint32_t)a0;
	uint64_t pc = a1, opaque = a2;

	if (type == SBI_HSM_SUSPEND_RETENTIVE) {
		sleep(vcpu);
		return vsbi_result(SBI_SUCCESS, 0);
	}
	if (type != SBI_HSM_SUSPEND_NON_RETENTIVE)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (!is_entry(vcpu->vm, pc))
		return vsbi_result(SBI_ERR_INVALID_ADDRESS, 0);
	sleep(vcpu);
	csr_clear(CSR_VSSTATUS, SSTATUS_SIE);
	csr_write(CSR_VSATP, 0);
	csr_write(CSR_SEPC, pc);
	/* The call returns this in a0 and a1. */
	return vsbi_result((long)vcpu->id, opaque);
}

const struct vsbi_slot vsbi_hsm = {
    .eid = SBI_EXT_HSM,
    .fn[SBI_HSM_HART_START] = hart_start,
    .fn[SBI_HSM_HART_STOP] = hart_stop,
    .fn[SBI_HSM_HART_GET_STATUS] = hart_get_status,
    .fn[SBI_HSM_HART_SUSPEND] = hart_suspend,
};

/*
 * Section 10.1. The reset concerns this guest only. With any reason but "no reason" it is a
 * failure, whatever the type; reasons of a platform or an SBI implementation are logged unchanged.
 * Platform-specific reset types are not implemented.
 */
static VSBI_FN(system_reset)
{
	struct vcpu *vcpu = this_vcpu();
	uint32_t type = (uint32_t)a0, reason = (uint32_t)a1;

	if (type > SBI_SRST_WARM_REBOOT ||
	    (reason > SBI_SRST_REASON_SYSFAIL && reason < 0xe0000000UL))
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (reason != SBI_SRST_REASON_NONE)
		vm_failed(vcpu,
		          type == SBI_SRST_SHUTDOWN ? "shut down with reset reason"
		                                    : "asked for a restart with reset reason",
		          reason);
	else
		vm_end(vcpu->vm, vcpu, type == SBI_SRST_SHUTDOWN ? VM_END_SHUTDOWN : VM_END_REBOOT,
		       NULL, type);
	return vsbi_result(SBI_SUCCESS, 0);
}

const struct vsbi_slot vsbi_srst = {
    .eid = SBI_EXT_SRST,
    .fn[SBI_SRST_RESET] = system_reset,
};
