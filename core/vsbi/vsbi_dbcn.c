/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 12 (DBCN), the debug console. */
#include "core/vm/guest_mem.h"
#include <string.h>
#include "core/vm/terminal_port.h"
#include "core/vm/long_call.h"
#include "core/vm/vm.h"
#include "core/vsbi/vsbi.h"

/* The most bytes in one stay in HS, to keep it short. A write continues in the next stay; a read
 * returns fewer bytes than requested. */
#define DBCN_MAX_BYTES 32UL

/* Writes the first of n > 0 bytes, and returns how many. */
static uint64_t write_some(const struct vm *vm, const char *memory, uint64_t n)
{
	char bytes[DBCN_MAX_BYTES];

	if (n > DBCN_MAX_BYTES)
		n = DBCN_MAX_BYTES;
	memcpy(bytes, memory, n);
	return terminal_vm_write(vm->index, bytes, n);
}

static bool write_more(struct vcpu *vcpu)
{
	struct long_call *call = &vcpu->call;
	uint64_t n = write_some(vcpu->vm, (const char *)call->at, call->left);

	call->at += n;
	call->left -= n;
	return call->left;
}

/* The console accepts all bytes, so a write is never partial. */
static vsbi_ret console_write(struct vcpu *vcpu, uint64_t n, gpa_t gpa)
{
	const char *memory = guest_mem(vcpu->vm, gpa, n);
	uint64_t done;

	if (!memory)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	done = write_some(vcpu->vm, memory, n);
	if (done < n)
		long_call_begin(vcpu, &(struct long_call){.slice = write_more,
		                                          .at = (uint64_t)memory + done,
		                                          .left = n - done});
	return vsbi_result(SBI_SUCCESS, n);
}

static vsbi_ret console_read(struct vm *vm, uint64_t n, gpa_t gpa)
{
	char *memory = guest_mem(vm, gpa, n);
	uint64_t done = 0;
	size_t space;

	if (!memory)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (n > DBCN_MAX_BYTES)
		n = DBCN_MAX_BYTES;
	/* Input is in the UART's FIFO (register 0) as long as LSR (register 5) says so. */
	spin_lock(&vm->devices);
	while (done < n && (vuart_read(&vm->uart, 5) & 1))
		memory[done++] = (char)vuart_read(&vm->uart, 0);
	space = vuart_rx_space(&vm->uart);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
	terminal_input_room(space);
	return vsbi_result(SBI_SUCCESS, done);
}

VSBI_FN(vsbi_dbcn)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	char byte = (char)a0;

	switch (fid) {
	case SBI_DBCN_CONSOLE_WRITE:
	case SBI_DBCN_CONSOLE_READ:
		/* An access of no bytes is always inside the guest's memory. */
		if (!a0)
			return vsbi_result(SBI_SUCCESS, 0);
		/* a2 is the upper half of the address */
		if (a2)
			return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
		if (fid == SBI_DBCN_CONSOLE_WRITE)
			return console_write(vcpu, a0, (gpa_t){a1});
		return console_read(vm, a0, (gpa_t){a1});
	case SBI_DBCN_WRITE_BYTE:
		terminal_vm_write(vm->index, &byte, 1);
		return vsbi_result(SBI_SUCCESS, 0);
	default:
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	}
}
