/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "core/vm/guest_mem.h"
#include "core/vm/terminal_port.h"
#include "core/vm/mmio.h"
#include "core/vm/trap_loop.h"
#include "core/vm/vm.h"

static uint64_t uart_access(struct vm *vm, uint64_t offset, bool store, uint64_t value)
{
	uint8_t tx;
	bool send = false;

	spin_lock(&vm->devices);
	if (store)
		send = vuart_write(&vm->uart, (uint32_t)offset, (uint8_t)value, &tx);
	else
		value = vuart_read(&vm->uart, (uint32_t)offset);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
	if (send)
		terminal_vm_write(vm->index, (const char *)&tx, 1);
	return value;
}

static uint64_t plic_access(struct vm *vm, uint64_t offset, bool store, uint64_t value,
                            uint32_t width)
{
	if (width != 4)
		return 0;
	spin_lock(&vm->devices);
	if (store)
		vplic_write(&vm->plic, (uint32_t)offset, (uint32_t)value);
	else
		value = vplic_read(&vm->plic, (uint32_t)offset);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
	return value;
}

static uint64_t extend(uint64_t value, const struct insn *insn)
{
	uint32_t shift = 64 - 8U * insn->width;

	if (insn->sign_extend)
		return (uint64_t)((int64_t)(value << shift) >> shift);
	return value << shift >> shift;
}

void mmio_access(struct vcpu *vcpu, bool store)
{
	struct vm *vm = vcpu->vm;
	uint64_t gpa = csr_read(CSR_HTVAL) << 2 | (csr_read(CSR_STVAL) & 3);
	struct insn insn = insn_decode_htinst(csr_read(CSR_HTINST));
	uint64_t cause = store ? CAUSE_STORE_ACCESS : CAUSE_LOAD_ACCESS;
	bool is_uart, is_plic;
	uint32_t raw;

	is_uart =
	    vm->config->console && gpa >= GUEST_UART_BASE && gpa - GUEST_UART_BASE < VUART_SIZE;
	is_plic = gpa >= GUEST_PLIC_BASE && gpa - GUEST_PLIC_BASE < VPLIC_SIZE;
	if (insn.kind == INSN_OTHER && !insn.implicit && (is_uart || is_plic)) {
		raw = guest_fetch();
		if (!raw)
			return;
		insn = insn_decode(raw);
	}
	if (!is_uart && !is_plic && vm->config->bad_access_stops) {
		vm_failed(vcpu,
		          store ? "store outside its memory, to" : "load outside its memory, from",
		          gpa);
		return;
	}
	if ((!is_uart && !is_plic) || insn.addr_offset ||
	    insn.kind != (store ? INSN_STORE : INSN_LOAD)) {
		vcpu_fw_seen(vcpu, store ? SBI_PMU_FW_ACCESS_STORE : SBI_PMU_FW_ACCESS_LOAD);
		trap_inject(vcpu, cause, csr_read(CSR_STVAL));
		return;
	}
	uint64_t value = vcpu->ctx.x[insn.reg];

	if (is_uart)
		value = uart_access(vm, gpa - GUEST_UART_BASE, store, value);
	else
		value = plic_access(vm, gpa - GUEST_PLIC_BASE, store, value, insn.width);
	if (!store && insn.reg)
		vcpu->ctx.x[insn.reg] = extend(value, &insn);
	vcpu_emulated(vcpu, insn.length);
}
