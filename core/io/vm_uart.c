/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_uart.h"

#include "core/console/ring.h"
#include "core/io/vm_interrupts.h"
#include "core/sched/sched.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/terminal_port.h"
#include "vpmu/bits.h"

/* Not inlined, because few accesses change it. */
__attribute__((noinline)) void vm_update_uart_slow(struct vm *vm, bool level)
{
	vplic_set_level(&vm->plic, GUEST_UART_IRQ, level);
	if (vm->config->aia) {
		vaplic_set_level(&vm->aplic, GUEST_UART_IRQ, level);
		vm_update_interrupts(vm);
	}
}

static __attribute__((noinline)) uint64_t unlock_changed(struct vm *vm, uint64_t value)
{
	vm_update_uart(vm);
	return vm_devices_unlock(vm, value);
}

/* As vm_devices_unlock(), for accesses that may have changed the UART. */
static inline uint64_t unlock(struct vm *vm, uint64_t value)
{
	if (vuart_irq(&vm->uart) != vplic_level(&vm->plic, GUEST_UART_IRQ) || vm->plic.changed)
		return unlock_changed(vm, value);
	spin_unlock(&vm->devices);
	return value;
}

__attribute__((flatten)) uint64_t vm_uart_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	(void)width;
	spin_lock(&vm->devices);
	return unlock(vm, vuart_read(&vm->uart, (uint32_t)offset));
}

/* With the lock of its devices, because the order of two calls on different harts does not matter
 * then: the later one has the newer state of the console. */
__attribute__((noinline)) void vm_output_room(struct vm *vm)
{
	uint64_t waiting = 0;
	uint32_t i;

	spin_lock(&vm->devices);
	vuart_set_full(&vm->uart, terminal_vm_waits(vm->index, RING_UART));
	if (vm->output_waiters && !terminal_vm_waits(vm->index, RING_WAKE)) {
		waiting = vm->output_waiters;
		vm->output_waiters = 0;
	}
	/* Without a console, a bell may have the UART's source. */
	if (vm->config->console)
		(void)unlock(vm, 0);
	else
		spin_unlock(&vm->devices);
	for_each_bit (i, waiting)
		vcpu_request(vm->vcpus[i], REQ_OUTPUT);
}

static bool put(struct vm *vm, uint8_t byte)
{
	bool full, taken = terminal_vm_put(vm->index, (char)byte, &full);

	if (full)
		vm_output_room(vm);
	return taken;
}

/* Sends call->at, a byte, or waits. */
static bool put_later(struct vcpu *vcpu)
{
	if (put(vcpu->vm, (uint8_t)vcpu->call.at))
		return false;
	vm_wait_for_output(vcpu);
	return true;
}

/* Not inlined, because few writes print. Releases the lock. Linux writes although the transmitter
 * is not empty when it has waited for some milliseconds (wait_for_lsr() in
 * drivers/tty/serial/8250/8250_port.c). Then the store waits. */
static __attribute__((noinline)) void print(struct vm *vm, uint8_t byte)
{
	(void)unlock(vm, 0);
	if (!put(vm, byte))
		long_call_begin(this_vcpu(), &(struct long_call){.slice = put_later, .at = byte});
}

__attribute__((flatten)) void vm_uart_write(struct vm *vm, uint64_t offset, uint64_t value,
                                            uint32_t width)
{
	uint8_t byte;

	(void)width;
	spin_lock(&vm->devices);
	if (vuart_write(&vm->uart, (uint32_t)offset, (uint8_t)value, &byte))
		print(vm, byte);
	else
		(void)unlock(vm, 0);
}

void vm_uart_begin(struct vm *vm)
{
	vuart_init(&vm->uart);
	/* The output of its former life may still wait. */
	vuart_set_full(&vm->uart, terminal_vm_waits(vm->index, RING_UART));
}

__attribute__((cold)) void vm_wait_for_output(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;

	spin_lock(&vm->devices);
	bool waits = terminal_vm_waits(vm->index, RING_WAKE);

	if (waits)
		vm->output_waiters |= BIT(vcpu->id);
	spin_unlock(&vm->devices);
	if (waits)
		sched_wait_for_output(vcpu);
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
	vuart_rx(&vm->uart, byte);
	(void)unlock(vm, 0);
}

bool vm_break(struct vm *vm, uint8_t next)
{
	spin_lock(&vm->devices);
	bool taken = vuart_break(&vm->uart, next);

	(void)unlock(vm, 0);
	return taken;
}
