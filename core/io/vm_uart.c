/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_uart.h"

#include "core/io/vm_interrupts.h"
#include "core/vcpu/terminal_port.h"

uint32_t vm_uart_slots(const struct vm *vm)
{
	return vm->config->console;
}

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

/* Not inlined, because few writes print. Releases the lock. */
static __attribute__((noinline)) void print(struct vm *vm, uint8_t byte)
{
	(void)unlock(vm, 0);
	(void)terminal_vm_write(vm->index, (const char *)&byte, 1);
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
	(void)unlock(vm, 0);
}
