/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/sched.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"
#include "core/vm/wired.h"
#include "vpmu/bits.h"

struct vm *vms;
uint32_t n_vms;

static void send_messages(struct vm *vm)
{
	struct vaplic_message message;

	vaplic_set_level(&vm->aplic, GUEST_UART_IRQ, vuart_irq(&vm->uart));
	while (vaplic_take(&vm->aplic, &message))
		imsic_send(vm->vcpus[message.vcpu]->guest_file_at, message.identity);
}

void vm_update_interrupts(struct vm *vm)
{
	if (vm->config->aia) {
		send_messages(vm);
		return;
	}
	vm->plic.changed &= ~VPLIC_OUTPUTS;
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

void vm_uart_changed(struct vm *vm, bool level)
{
	vplic_set_level(&vm->plic, GUEST_UART_IRQ, level);
	if (vm->config->aia)
		send_messages(vm);
}

void vm_devices_changed(struct vm *vm)
{
	uint32_t changed = vm->plic.changed, completed = vm->plic.completed, source;

	vm->plic.changed = 0;
	vm->plic.completed = 0;
	for_each_bit (source, completed & vm->wired)
		wired_completed(vm, source);
	if (changed & VPLIC_ENABLES)
		wired_follow(vm);
	if (changed & VPLIC_OUTPUTS)
		vm_update_interrupts(vm);
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
	vm_update_uart(vm);
	vm_update_devices(vm);
	spin_unlock(&vm->devices);
}
