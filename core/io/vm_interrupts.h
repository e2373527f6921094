/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of a VM by its PLIC or APLIC, and the input of its UART. */
#ifndef CORE_IO_VM_INTERRUPTS_H
#define CORE_IO_VM_INTERRUPTS_H

#include "core/vcpu/vm.h"

/* Passes changed outputs of the PLIC on to the vcpus, or sends the MSIs of the APLIC. The caller
 * holds vm->devices. */
void vm_update_interrupts(struct vm *vm);

/* Passes the level of an emulated device's interrupt on to the PLIC or APLIC, and to the vcpus. The
 * caller holds vm->devices. */
void vm_set_level(struct vm *vm, uint32_t source, bool level);

/* The same for a level that becomes high; faster. */
void vm_raise(struct vm *vm, uint32_t source);

/* Passes the level of the UART's interrupt on to the PLIC or APLIC. Few accesses change it. The
 * PLIC always has the last level. The caller holds vm->devices. */
void vm_uart_changed(struct vm *vm, bool level);
static inline void vm_update_uart(struct vm *vm)
{
	bool level = vuart_irq(&vm->uart);

	if (level != vplic_level(&vm->plic, GUEST_UART_IRQ))
		vm_uart_changed(vm, level);
}

/* Passes on changes by accesses to the devices. The caller holds vm->devices. */
void vm_devices_changed(struct vm *vm);
static inline void vm_update_devices(struct vm *vm)
{
	if (vm->plic.changed)
		vm_devices_changed(vm);
}

/* Whether the VM's UART has room for input. */
bool vm_input_space(struct vm *vm);

/* Gives the VM's UART a byte of input. It is dropped if there is no room, or no UART. */
void vm_input(struct vm *vm, uint8_t byte);

#endif
