/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/sched.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"

struct vm vms[VM_MAX_VMS];
uint32_t n_vms;

void vm_update_interrupts(struct vm *vm)
{
	vplic_set_level(&vm->plic, GUEST_UART_IRQ, vuart_irq(&vm->uart));
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		struct vcpu *vcpu = vm->vcpus[i];
		bool level = vplic_output(&vm->plic, i);

		/* Most accesses change nothing, and a request would interrupt the other hart. */
		if (level == !!(vm->plic_outputs & BIT(i)))
			continue;
		vm->plic_outputs ^= BIT(i);
		if (vcpu_home(vcpu) != this_pcpu()) {
			vcpu_request(vcpu, REQ_DEVICES);
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
