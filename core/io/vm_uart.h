/* SPDX-License-Identifier: Apache-2.0 */
/* The UART of a VM with a console: its input, and accesses, a row of core/dispatch/mmio.c. */
#ifndef CORE_IO_VM_UART_H
#define CORE_IO_VM_UART_H

#include "core/vcpu/vm.h"

/* Any width: a register has one byte. */
uint64_t vm_uart_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_uart_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

/* Passes the level of the UART's interrupt on to the PLIC or APLIC. Few accesses change it. The
 * PLIC always has the last level. The caller holds vm->devices. */
void vm_update_uart_slow(struct vm *vm, bool level);
static inline void vm_update_uart(struct vm *vm)
{
	bool level = vuart_irq(&vm->uart);

	if (level != vplic_level(&vm->plic, GUEST_UART_IRQ))
		vm_update_uart_slow(vm, level);
}

/* Resets the UART. The caller holds vm->devices. */
void vm_uart_begin(struct vm *vm);

/* The VM's share of the console's output has changed: its UART's transmitter follows, and vcpus
 * that wait for room are told. Any hart may call it. */
void vm_output_room(struct vm *vm);

/* Makes the resident vcpu wait until its VM's share has room again, unless it has. */
void vm_wait_for_output(struct vcpu *vcpu);

/* Whether the VM's UART has room for input. */
bool vm_input_space(struct vm *vm);

/* Gives the VM's UART a byte of input. It is dropped if there is no room, or no UART. */
void vm_input(struct vm *vm, uint8_t byte);

/* Gives the UART of a VM with a console a break and a byte, with nothing in between. Returns false
 * if they have to wait (vuart_break()). */
bool vm_break(struct vm *vm, uint8_t next);

#endif
