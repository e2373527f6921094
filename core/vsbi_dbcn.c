/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 12, the debug console. */
#include "core/guest_mem.h"
#include "core/log.h"
#include <string.h>
#include "core/vm.h"
#include "core/vsbi.h"

/* A call may write or read less than it was asked; so the stay in HS is bounded. */
#define DBCN_MAX_BYTES 32UL

static vsbi_ret console_write(struct vm *vm, uint64_t n, gpa_t gpa)
{
	char bytes[DBCN_MAX_BYTES];
	const char *memory = guest_mem(vm, gpa, n);

	if (!memory)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	if (n > DBCN_MAX_BYTES)
		n = DBCN_MAX_BYTES;
	memcpy(bytes, memory, n);
	if (n)
		n = log_vm(vm->index, bytes, n);
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
	/* What was typed waits in the UART's FIFO, register 0, while LSR (5) says so. */
	spin_lock(&vm->devices);
	while (done < n && (vuart_read(&vm->uart, 5) & 1))
		memory[done++] = (char)vuart_read(&vm->uart, 0);
	space = vuart_rx_space(&vm->uart);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
	log_input_room(space);
	return vsbi_result(SBI_SUCCESS, done);
}

VSBI_FN(vsbi_dbcn)
{
	struct vm *vm = this_vcpu()->vm;
	char byte = (char)a0;

	switch (fid) {
	case SBI_DBCN_CONSOLE_WRITE:
	case SBI_DBCN_CONSOLE_READ:
		/* a2: the upper half of an address of more than 64 bits */
		if (a2)
			return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
		if (fid == SBI_DBCN_CONSOLE_WRITE)
			return console_write(vm, a0, (gpa_t){a1});
		return console_read(vm, a0, (gpa_t){a1});
	case SBI_DBCN_WRITE_BYTE:
		log_vm(vm->index, &byte, 1);
		return vsbi_result(SBI_SUCCESS, 0);
	default:
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	}
}
