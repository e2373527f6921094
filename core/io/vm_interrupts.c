/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_interrupts.h"
#include "arch/riscv/devices/imsic.h"
#include "core/io/wired.h"
#include "core/sched/port.h"
#include "core/sched/sched.h"
#include "core/vcpu/vcpu_requests.h"
#include "vpmu/bits.h"

static void send_messages(struct vm *vm)
{
	struct vaplic_message message;

	while (vaplic_take(&vm->aplic, &message))
		imsic_send(vm->vcpus[message.vcpu]->guest_file_at, message.identity);
}

/* Passes a changed output of a vcpu's context on to the vcpu. */
static inline void tell_vcpu(struct vm *vm, uint32_t i, bool level)
{
	struct vcpu *vcpu = vm->vcpus[i];

	vm->plic_outputs ^= BIT(i);
	if (vcpu_home(vcpu) != this_pcpu()) {
		vcpu_request(vcpu, REQ_DEVICES);
		return;
	}
	vcpu_set_virq(vcpu, IRQ_VSEI, level);
	if (!vcpu_is_current(vcpu))
		sched_wake_if_interrupted(vcpu);
}

/* For several vcpus. Not inlined, because vm_raise() would save more registers. */
static __attribute__((noinline)) void tell_vcpus(struct vm *vm, uint32_t which)
{
	for (uint32_t i = 0; which; i++, which >>= 1) {
		if (which & 1)
			tell_vcpu(vm, i, true);
	}
}

void vm_update_interrupts(struct vm *vm)
{
	if (vm->config->aia) {
		send_messages(vm);
		return;
	}
	vm->plic.changed &= ~VPLIC_OUTPUTS;
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		bool level = vplic_output(&vm->plic, i);

		/* Most accesses change nothing, and a request would interrupt the other hart. */
		if (level != !!(vm->plic_outputs & BIT(i)))
			tell_vcpu(vm, i, level);
	}
}

void vm_uart_changed(struct vm *vm, bool level)
{
	vplic_set_level(&vm->plic, GUEST_UART_IRQ, level);
	if (vm->config->aia) {
		vaplic_set_level(&vm->aplic, GUEST_UART_IRQ, level);
		send_messages(vm);
	}
}

void vm_raise(struct vm *vm, uint32_t source)
{
	uint32_t told;

	if (vm->config->aia) {
		vm_set_level(vm, source, true);
		return;
	}
	told = vplic_raise(&vm->plic, source) & ~(uint32_t)vm->plic_outputs;
	if (told == 1)
		tell_vcpu(vm, 0, true);
	else if (told)
		tell_vcpus(vm, told);
}

void vm_set_level(struct vm *vm, uint32_t source, bool level)
{
	if (level == vplic_level(&vm->plic, source))
		return;
	vplic_set_level(&vm->plic, source, level);
	if (vm->config->aia)
		vaplic_set_level(&vm->aplic, source, level);
	/* The PLIC had no other changes to pass on. */
	vm->plic.changed = 0;
	vm_update_interrupts(vm);
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
	/* Typed bytes wait in the host's UART while the first life is prepared. */
	if (!*(const volatile uint64_t *)&vm->life.number)
		return false;
	spin_lock(&vm->devices);
	size_t space = vuart_rx_space(&vm->uart);

	spin_unlock(&vm->devices);
	return space;
}

void vm_input(struct vm *vm, uint8_t byte)
{
	/* Without a console, a bell may have the UART's source. */
	if (!vm->config->console)
		return;
	spin_lock(&vm->devices);
	vuart_rx(&vm->uart, &byte, 1);
	vm_update_uart(vm);
	vm_update_devices(vm);
	spin_unlock(&vm->devices);
}
