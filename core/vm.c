/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/sbi.h"
#include "core/log.h"
#include "core/sched.h"
#include "core/vm.h"

struct vm vms[VM_MAX_VMS];
uint32_t n_vms;

static atomic_uint vms_alive, vms_failed;

void vm_end(struct vm *vm, const char *failure, uint64_t value)
{
	if (atomic_exchange(&vm->ending, true))
		return;
	vm->failure = failure;
	vm->failure_value = value;
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++)
		vcpu_request(vm->vcpus[i], VCPU_REQ_STOP);
}

static void report_exits(const struct vcpu *vcpu)
{
	const uint64_t *e = vcpu->exits;

	log_line("vm %s: vcpu %u: exits ecall=%lu timer=%lu irq=%lu lcofi=%lu mmio=%lu csr=%lu "
	         "wfi=%lu other=%lu hs-instructions=%lu longest-stay=%lu",
	         vcpu->vm->config->name, vcpu->id, vcpu->ctx.ecalls + e[EXIT_ECALL], e[EXIT_TIMER],
	         e[EXIT_IRQ], e[EXIT_LCOFI], e[EXIT_MMIO], e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER],
	         vcpu->ctx.hs_insns, vcpu->ctx.hs_longest);
}

static _Noreturn void power_off(void)
{
	uint64_t reason = atomic_load(&vms_failed) ? SBI_SRST_REASON_SYSFAIL : SBI_SRST_REASON_NONE;

	log_line("all VMs ended");
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_SHUTDOWN, reason, 0, 0, 0);
	for (;;)
		wfi();
}

void vm_vcpu_gone(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	bool last = atomic_fetch_sub(&vm->vcpus_alive, 1) == 1;

	if (last)
		log_vm_ended(vm->index);
	report_exits(vcpu);
	if (!last)
		return;
	if (vm->failure) {
		atomic_fetch_add(&vms_failed, 1);
		log_line("vm %s: failed: %s %lx", vm->config->name, vm->failure, vm->failure_value);
	} else {
		log_line("vm %s: ended", vm->config->name);
	}
	if (atomic_fetch_sub(&vms_alive, 1) == 1)
		power_off();
}

void vm_update_interrupts(struct vm *vm)
{
	vplic_set_level(&vm->plic, GUEST_UART_IRQ, vuart_irq(&vm->uart));
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		struct vcpu *vcpu = vm->vcpus[i];
		bool level = vplic_output(&vm->plic, i);

		/* Most accesses change nothing, and a request interrupts the other hart. */
		if (level == !!(vm->plic_outputs & BIT(i)))
			continue;
		vm->plic_outputs ^= BIT(i);
		if (vcpu->home != this_pcpu()) {
			vcpu_request(vcpu, VCPU_REQ_DEVICES);
			continue;
		}
		vcpu_set_virq(vcpu, IRQ_VSEI, level);
		if (!vcpu_is_current(vcpu))
			sched_wake_if_interrupted(vcpu);
	}
}

bool vm_input_space(struct vm *vm)
{
	spin_lock(&vm->devices);
	size_t space = vuart_rx_space(&vm->uart);

	spin_unlock(&vm->devices);
	return space;
}

void vm_input(struct vm *vm, uint8_t byte)
{
	spin_lock(&vm->devices);
	vuart_rx(&vm->uart, &byte, 1);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
}

void vms_start_counting(uint32_t n)
{
	atomic_store(&vms_alive, n);
}
