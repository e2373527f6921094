/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "core/dispatch/mmio.h"
#include "core/io/bell_pci.h"
#include "core/io/bells.h"
#include "core/io/functions.h"
#include "core/io/vm_interrupts.h"
#include "core/io/wired.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vm_end.h"
#include "core/vcpu/vs_interrupts.h"
#include "vpmu/retired.h"

/*
 * The devices that Tally emulates. Each has a line in find() and one in serve(), which calls its
 * function: the guest loads from the register at offset, or stores value there, with this width in
 * bytes. It returns the value of a load; the bits above the width have no meaning.
 */
enum device { NOTHING, PLIC, UART, APLIC, PCI, BELL };

static inline enum device find(const struct vm *vm, uint64_t gpa)
{
	if (gpa - GUEST_PLIC_BASE < VPLIC_SIZE && !vm->config->aia)
		return PLIC;
	if (gpa - GUEST_UART_BASE < VUART_SIZE && vm->config->console)
		return UART;
	if (gpa - GUEST_APLIC_BASE < VAPLIC_SIZE && vm->config->aia)
		return APLIC;
	if (gpa - GUEST_ECAM_BASE < GUEST_ECAM_SIZE && (vm->pci.n || vm->bells))
		return PCI;
	if (gpa - GUEST_BELL_BASE < GUEST_BELL_SIZE &&
	    vm->bell_of[(gpa - GUEST_BELL_BASE) / GUEST_BELL_STEP])
		return BELL;
	return NOTHING;
}

static uint64_t uart_access(struct vm *vm, uint64_t offset, bool store, uint64_t value)
{
	uint8_t tx;
	bool send = false;

	spin_lock(&vm->devices);
	if (store)
		send = vuart_write(&vm->uart, (uint32_t)offset, (uint8_t)value, &tx);
	else
		value = vuart_read(&vm->uart, (uint32_t)offset);
	vm_update_uart(vm);
	vm_update_devices(vm);
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
	vm_update_devices(vm);
	spin_unlock(&vm->devices);
	return value;
}

/* Performs the effects of a write to the APLIC outside of it. The caller holds vm->devices. */
static void aplic_changed(struct vm *vm)
{
	const struct vaplic_change *change = &vm->aplic_change;

	if (change->extempore)
		imsic_send(vm->vcpus[change->message.vcpu]->guest_file_at,
		           change->message.identity);
	wired_changed(vm, change);
	vm_update_interrupts(vm);
}

static uint64_t aplic_access(struct vm *vm, uint32_t offset, bool store, uint64_t value,
                             uint32_t width)
{
	if (width != 4)
		return 0;
	spin_lock(&vm->devices);
	if (store) {
		vaplic_write(&vm->aplic, offset, (uint32_t)value, &vm->aplic_change);
		aplic_changed(vm);
	} else {
		value = vaplic_read(&vm->aplic, offset, wired_bits(vm, vaplic_needs(offset)));
	}
	spin_unlock(&vm->devices);
	return value;
}

/* The VM's PCI bus has its bells and functions of the host. */
static uint64_t pci_access(struct vm *vm, uint64_t offset, bool store, uint64_t value,
                           uint32_t width)
{
	if (vm->bells && bell_pci_access(vm, (uint32_t)offset, store, &value, width))
		return value;
	return functions_access(vm, offset, store, value, width);
}

static uint64_t serve(struct vm *vm, enum device device, uint64_t gpa, bool store, uint64_t value,
                      uint32_t width)
{
	switch (device) {
	case PLIC:
		return plic_access(vm, gpa - GUEST_PLIC_BASE, store, value, width);
	case UART:
		return uart_access(vm, gpa - GUEST_UART_BASE, store, value);
	case APLIC:
		return aplic_access(vm, (uint32_t)(gpa - GUEST_APLIC_BASE), store, value, width);
	case PCI:
		return pci_access(vm, gpa - GUEST_ECAM_BASE, store, value, width);
	case BELL:
		return bells_access(vm, gpa - GUEST_BELL_BASE, store, value, width);
	default:
		return 0;
	}
}

static inline uint64_t faulting(void)
{
	return csr_read(CSR_HTVAL) << 2 | (csr_read(CSR_STVAL) & 3);
}

uint32_t mmio_device(const struct vm *vm, uint64_t address)
{
	return find(vm, address);
}

static inline uint64_t extend(uint64_t value, uint32_t width, bool sign)
{
	uint32_t shift = 64 - 8U * width;

	return sign ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/*
 * The fast path: accesses to the PLIC or APLIC and the UART, and stores to bells, by instructions
 * that the hart has decoded. It calls no function before its end, so it needs no stack. All devices
 * but the PLIC have functions of their own, which are not inlined: otherwise mmio_load() and
 * mmio_store() would save registers.
 */
static inline bool is_fast(const struct vcpu *vcpu)
{
	return !atomic_load_explicit(&vcpu->traced, memory_order_relaxed);
}

/* For the few accesses that have effects outside the device, or that vpmu_retired_fast() has not
 * counted on all counters. Releases the lock. */
static __attribute__((noinline)) long finish_late(uint64_t slow, long answer)
{
	struct vcpu *vcpu = this_vcpu();

	vm_update_devices(vcpu->vm);
	spin_unlock(&vcpu->vm->devices);
	if (slow)
		vpmu_retired_slow(&vcpu->pmu, slow);
	return answer;
}

static inline long finish(struct vm *vm, uint64_t slow, long answer)
{
	if (slow || vm->plic.changed)
		return finish_late(slow, answer);
	spin_unlock(&vm->devices);
	return answer;
}

/* Counts exit and instruction, and advances pc. Returns the hctrs for vpmu_retired_slow(). */
static inline uint64_t begin(struct vcpu *vcpu, uint64_t htinst)
{
	vcpu->ctx.exits[EXIT_MMIO]++;
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + insn_moved_length(htinst));
	vs_interrupts_settle();
	return vpmu_retired_fast(&vcpu->pmu, vcpu_from_user());
}

static inline long loaded(struct vcpu *vcpu, uint64_t htinst, uint64_t value)
{
	uint32_t rd = insn_moved_rd(htinst);

	vcpu->ctx.x[rd] = extend(value, insn_moved_width(htinst), insn_moved_is_signed(htinst));
	return (long)(rd * sizeof(value));
}

static __attribute__((noinline, flatten)) long uart_load(uint64_t htinst, uint64_t gpa)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint64_t slow = begin(vcpu, htinst), value;

	spin_lock(&vm->devices);
	value = vuart_read(&vm->uart, (uint32_t)(gpa - GUEST_UART_BASE));
	vm_update_uart(vm);
	return finish(vm, slow, loaded(vcpu, htinst, value));
}

/* Registers with bits that are in the host's APLIC are left to the slow path. */
static __attribute__((noinline, flatten)) long aplic_load(uint64_t htinst, uint64_t gpa)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint32_t offset = (uint32_t)(gpa - GUEST_APLIC_BASE);
	uint64_t slow, value;

	if (insn_moved_width(htinst) != 4 ||
	    (vm->wired && vaplic_needs(offset) != VAPLIC_NEEDS_NOTHING))
		return MMIO_NONE;
	slow = begin(vcpu, htinst);
	spin_lock(&vm->devices);
	value = vaplic_read(&vm->aplic, offset, 0);
	return finish(vm, slow, loaded(vcpu, htinst, value));
}

__attribute__((flatten)) long mmio_load(uint64_t htinst)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint64_t gpa = faulting(), slow, value;
	enum device device = find(vm, gpa);

	if (!insn_is_moved_load(htinst) || !is_fast(vcpu))
		return MMIO_NONE;
	if (device != PLIC)
		return device == UART    ? uart_load(htinst, gpa)
		       : device == APLIC ? aplic_load(htinst, gpa)
		                         : MMIO_NONE;
	if (insn_moved_width(htinst) != 4)
		return MMIO_NONE;
	slow = begin(vcpu, htinst);
	spin_lock(&vm->devices);
	value = vplic_read(&vm->plic, (uint32_t)(gpa - GUEST_PLIC_BASE));
	return finish(vm, slow, loaded(vcpu, htinst, value));
}

/* Prints a byte. Releases the lock. */
static __attribute__((noinline)) long finish_sending(uint64_t slow, uint8_t byte)
{
	struct vm *vm = this_vcpu()->vm;

	(void)finish(vm, slow, 0);
	(void)terminal_vm_write(vm->index, (const char *)&byte, 1);
	return 0;
}

static __attribute__((noinline, flatten)) long uart_store(uint64_t htinst, uint64_t gpa)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint64_t slow = begin(vcpu, htinst);
	uint8_t byte;
	bool send;

	spin_lock(&vm->devices);
	send = vuart_write(&vm->uart, (uint32_t)(gpa - GUEST_UART_BASE),
	                   (uint8_t)vcpu->ctx.x[insn_moved_rs2(htinst)], &byte);
	vm_update_uart(vm);
	return send ? finish_sending(slow, byte) : finish(vm, slow, 0);
}

/* Sends MSIs, and changes sources of the host. Releases the lock. */
static __attribute__((noinline)) long finish_change(uint64_t slow)
{
	aplic_changed(this_vcpu()->vm);
	return finish_late(slow, 0);
}

static inline long aplic_write(uint64_t htinst, uint32_t offset)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint64_t slow;

	if (insn_moved_width(htinst) != 4)
		return MMIO_NONE;
	slow = begin(vcpu, htinst);
	spin_lock(&vm->devices);
	vaplic_write(&vm->aplic, offset, (uint32_t)vcpu->ctx.x[insn_moved_rs2(htinst)],
	             &vm->aplic_change);
	if (vaplic_changes(&vm->aplic_change) || vaplic_has_message(&vm->aplic))
		return finish_change(slow);
	return finish(vm, slow, 0);
}

/* Not inlined, because these writes take more registers. */
static __attribute__((noinline, flatten)) long aplic_configure(uint64_t htinst, uint32_t offset)
{
	return aplic_write(htinst, offset);
}

static __attribute__((noinline, flatten)) long aplic_store(uint64_t htinst, uint64_t gpa)
{
	uint32_t offset = (uint32_t)(gpa - GUEST_APLIC_BASE);

	if (offset < VAPLIC_PENDING)
		return aplic_configure(htinst, offset);
	return aplic_write(htinst, offset);
}

/* Notify the other VM before the instruction is counted, as for the other devices. */
static __attribute__((noinline)) long bell_store(uint64_t htinst, uint64_t gpa)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t slow;

	if (insn_moved_width(htinst) != 4)
		return MMIO_NONE;
	slow = begin(vcpu, htinst);
	bells_write(vcpu->vm, gpa - GUEST_BELL_BASE, (uint32_t)vcpu->ctx.x[insn_moved_rs2(htinst)]);
	if (slow)
		vpmu_retired_slow(&vcpu->pmu, slow);
	return 0;
}

__attribute__((flatten)) long mmio_store(uint64_t htinst)
{
	struct vcpu *vcpu = this_vcpu();
	struct vm *vm = vcpu->vm;
	uint64_t gpa = faulting(), slow;
	enum device device = find(vm, gpa);

	if (!insn_is_moved_store(htinst) || !is_fast(vcpu))
		return MMIO_NONE;
	if (device != PLIC)
		return device == UART    ? uart_store(htinst, gpa)
		       : device == APLIC ? aplic_store(htinst, gpa)
		       : device == BELL  ? bell_store(htinst, gpa)
		                         : MMIO_NONE;
	if (insn_moved_width(htinst) != 4)
		return MMIO_NONE;
	slow = begin(vcpu, htinst);
	spin_lock(&vm->devices);
	vplic_write(&vm->plic, (uint32_t)(gpa - GUEST_PLIC_BASE),
	            (uint32_t)vcpu->ctx.x[insn_moved_rs2(htinst)]);
	return finish(vm, slow, 0);
}

void mmio_access(struct vcpu *vcpu, bool store)
{
	struct vm *vm = vcpu->vm;
	uint64_t gpa = faulting();
	struct insn insn = insn_decode_htinst(csr_read(CSR_HTINST));
	uint64_t cause = store ? CAUSE_STORE_ACCESS : CAUSE_LOAD_ACCESS;
	enum device device = find(vm, gpa);
	uint64_t value;
	uint32_t raw;

	if (insn.kind == INSN_OTHER && !insn.implicit && device != NOTHING) {
		raw = guest_fetch();
		if (!raw)
			return;
		insn = insn_decode(raw);
	}
	if (device == NOTHING && vm->config->bad_access_stops) {
		vm_failed(vcpu,
		          store ? "store outside its memory, to" : "load outside its memory, from",
		          gpa);
		return;
	}
	if (device == NOTHING || insn.addr_offset ||
	    insn.kind != (store ? INSN_STORE : INSN_LOAD)) {
		vcpu_fw_seen(vcpu, store ? SBI_PMU_FW_ACCESS_STORE : SBI_PMU_FW_ACCESS_LOAD);
		trap_inject(vcpu, cause, csr_read(CSR_STVAL));
		return;
	}
	value = serve(vm, device, gpa, store, vcpu->ctx.x[insn.reg], insn.width);
	if (!store && insn.reg)
		vcpu->ctx.x[insn.reg] = extend(value, insn.width, insn.sign_extend);
	vcpu_emulated(vcpu, insn.length);
}
