/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vm.h"

#include "arch/riscv/hart/csr.h"

struct vm *vms;
uint32_t n_vms;

const char *vm_state_name(const struct vm *vm)
{
	static const char *const names[] = {
	    [VM_LOADING] = "loading",   [VM_RUNNING] = "running", [VM_ENDING] = "ending",
	    [VM_CLEARING] = "clearing", [VM_OFF] = "off",
	};

	return names[atomic_load(&vm->state)];
}

bool vm_is_asleep(const struct vm *vm)
{
	bool asleep = false;

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		unsigned long state = atomic_load(&vm->vcpus[i]->hsm_state);

		if (state == SBI_HSM_STATE_STOPPED)
			continue;
		if (state != SBI_HSM_STATE_SUSPENDED || vcpu_timer_deadline(vm->vcpus[i]) != ~0UL)
			return false;
		asleep = true;
	}
	return asleep;
}

static void end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
                uint64_t value, const char *unit)
{
	unsigned int running = VM_RUNNING;

	if (!atomic_compare_exchange_strong(&vm->state, &running, VM_ENDING))
		return;
	vm->end.why = why;
	vm->end.by = by;
	vm->end.failure = (struct vm_failure){failure, value, unit, csr_read(CSR_TIME)};
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++)
		vcpu_request(vm->vcpus[i], REQ_STOP);
}

void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value)
{
	end(vm, by, why, failure, value, NULL);
}

void vm_heartbeat_missed(struct vm *vm)
{
	end(vm, vm->vcpus[0], VM_END_FAILED, "did not ring for", vm->config->heartbeat_ms, "ms");
}

void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value)
{
	vm_end(vcpu->vm, vcpu, VM_END_FAILED, failure, value);
}

/* Several vcpus may ring in any order; the latest ring counts. */
void heart_ring(struct vm *vm)
{
	uint64_t now = csr_read(CSR_TIME);
	unsigned long last = atomic_load(&vm->last_ring);

	while (last < now && !atomic_compare_exchange_weak(&vm->last_ring, &last, now)) /* WAITS */
		;
}
