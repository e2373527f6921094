/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 12 (DBCN), the debug console. */
#include "core/io/vm_interrupts.h"
#include "core/io/vm_uart.h"
#include "core/vcpu/guest_mem.h"
#include <string.h>
#include "core/vcpu/long_call.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"

/* The most bytes in one stay in HS, to keep it short. A write continues in the next stay; a read
 * returns fewer bytes than requested. */
#define DBCN_MAX_BYTES 16UL

/* Writes the first bytes of n > 0, and returns how many: 0 if there is no room. */
static uint64_t write_some(const struct vm *vm, const char *memory, uint64_t n)
{
	char bytes[DBCN_MAX_BYTES];

	if (n > DBCN_MAX_BYTES)
		n = DBCN_MAX_BYTES;
	memcpy(bytes, memory, n);
	return terminal_vm_write(vm->index, bytes, n);
}

/* a1 has the number of bytes of the whole write. If the VM's share of the console's output is full,
 * the write is partial; but it waits for its first byte, because Linux drops a text of which no
 * byte was written (drivers/tty/hvc/hvc_console.c). */
static bool write_more(struct vcpu *vcpu)
{
	struct long_call *call = &vcpu->call;
	uint64_t n = write_some(vcpu->vm, (const char *)call->at, call->left);
	uint64_t *all = &vcpu->ctx.x[REG_A0 + 1];

	call->at += n;
	call->left -= n;
	if (n)
		return call->left;
	if (call->left == *all) {
		vm_wait_for_output(vcpu);
		return true;
	}
	*all -= call->left;
	return false;
}

/* Writes call->at, a byte, or waits. */
static bool write_byte(struct vcpu *vcpu)
{
	char byte = (char)vcpu->call.at;

	if (terminal_vm_write(vcpu->vm->index, &byte, 1))
		return false;
	vm_wait_for_output(vcpu);
	return true;
}

/* Returns the guest's memory for a read or write of n bytes. If there is nothing to read or write,
 * returns NULL, and the result is *ret: 0 bytes succeed at any address. high: the upper half of an
 * address of more than 64 bits, which is invalid. */
static char *memory_of(const struct vm *vm, uint64_t n, uint64_t low, uint64_t high, vsbi_ret *ret)
{
	*ret = vsbi_result(n ? SBI_ERR_INVALID_PARAM : SBI_SUCCESS, 0);
	return !n || high ? NULL : guest_mem(vm, (gpa_t){low}, n);
}

static VSBI_FN(console_write)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t done;
	vsbi_ret ret;
	const char *memory = memory_of(vcpu->vm, a0, a1, a2, &ret);

	if (!memory)
		return ret;
	done = write_some(vcpu->vm, memory, a0);
	if (done < a0)
		long_call_begin(vcpu, &(struct long_call){.slice = write_more,
		                                          .at = (uint64_t)memory + done,
		                                          .left = a0 - done});
	return vsbi_result(SBI_SUCCESS, a0);
}

static VSBI_FN(console_read)
{
	struct vm *vm = this_vcpu()->vm;
	uint64_t n = a0 > DBCN_MAX_BYTES ? DBCN_MAX_BYTES : a0;
	uint64_t done = 0;
	vsbi_ret ret;
	char *memory = memory_of(vm, a0, a1, a2, &ret);

	if (!memory)
		return ret;
	/* Typed bytes are in the UART's FIFO: register 0 has the next one while LSR (5) says so. */
	spin_lock(&vm->devices);
	while (done < n && (vuart_read(&vm->uart, 5) & 1))
		memory[done++] = (char)vuart_read(&vm->uart, 0);
	vm_update_uart(vm);
	vm_update_devices(vm);
	spin_unlock(&vm->devices);
	return vsbi_result(SBI_SUCCESS, done);
}

static VSBI_FN(console_write_byte)
{
	struct vcpu *vcpu = this_vcpu();
	char byte = (char)a0;

	if (!terminal_vm_write(vcpu->vm->index, &byte, 1))
		long_call_begin(vcpu, &(struct long_call){.slice = write_byte, .at = (uint8_t)a0});
	return vsbi_result(SBI_SUCCESS, 0);
}

const struct vsbi_slot vsbi_dbcn = {
    .eid = SBI_EXT_DBCN,
    .fn[SBI_DBCN_CONSOLE_WRITE] = console_write,
    .fn[SBI_DBCN_CONSOLE_READ] = console_read,
    .fn[SBI_DBCN_WRITE_BYTE] = console_write_byte,
};
