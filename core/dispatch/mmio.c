/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dispatch/mmio.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "core/dispatch/exit.h"
#include "core/io/bells.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/vm_interrupts.h"
#include "core/io/vm_rtc.h"
#include "core/io/vm_uart.h"
#include "core/io/vm_virt.h"
#include "core/io/vpci.h"
#include "core/tree/vm_machine.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "vpmu/retired.h"

/*
 * The emulated devices. A device has slots of the same size, one after the other; most have one.
 *
 * read() and write() are called for slots only that the VM has, with an offset from slot 0 and a
 * width of 1, 2, 4 or 8 bytes; offsets may be misaligned. Bits of a value above the width have no
 * meaning. The caller holds no lock. They cause no exception, not even under a trap guard: htinst
 * is read again after them.
 */
struct device {
	const char *name; /* for the operator */
	uint64_t base;    /* guest physical address of slot 0 */
	uint64_t slot;    /* size of each in bytes */
	uint64_t n_slots;
	bool recorded; /* accesses are exits that crash-exits stores, and so take the slow path */
	uint64_t (*read)(struct vm *vm, uint64_t offset, uint32_t width);
	void (*write)(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);
};

/* The sooner a row comes, the fewer instructions an access takes. */
enum { PLIC, UART, APLIC, PCI, BELLS, OPERATOR, RTC, KEY, PAIRS, SLOTS, PORTS, DEVICES };
static const struct device devices[] = {
    [PLIC] = {"PLIC", GUEST_PLIC_BASE, VPLIC_SIZE, 1, false, vm_plic_read, vm_plic_write},
    [UART] = {"UART", GUEST_UART_BASE, VUART_SIZE, 1, false, vm_uart_read, vm_uart_write},
    [APLIC] = {"APLIC", GUEST_APLIC_BASE, VAPLIC_SIZE, 1, false, vm_aplic_read, vm_aplic_write},
    [PCI] = {"PCI", GUEST_ECAM_BASE, GUEST_ECAM_SIZE, 1, true, vpci_read, vpci_write},
    [BELLS] = {"bell", GUEST_BELL_BASE, GUEST_BELL_STEP, VM_MAX_SHARED, true, bells_read,
               bells_write},
    [OPERATOR] = {"operator", GUEST_OPERATOR_BASE, GUEST_OPERATOR_SIZE, 1, true,
                  operator_function_read, operator_function_write},
    [RTC] = {"RTC", GUEST_RTC_BASE, VRTC_SIZE, 1, true, vm_rtc_read, vm_rtc_write},
    [KEY] = {"key", GUEST_KEY_BASE, GUEST_KEY_SIZE, 1, true, power_key_read, power_key_write},
    /* Of VMs with machine = "virt". */
    [PAIRS] = {"PLIC", GUEST_PLIC_BASE, VPLIC_SIZE, 1, false, vm_pairs_read, vm_pairs_write},
    [SLOTS] = {"virtio slot", GUEST_SLOT_BASE, GUEST_SLOT_STEP, GUEST_SLOTS, true, vm_slot_read,
               vm_slot_write},
    [PORTS] = {"port", GUEST_PORT_BASE, GUEST_PORT_STEP, VM_MAX_PORTS, true, ports_read,
               ports_write},
};

_Static_assert(DEVICES <= VM_EMULATED, "one more in vm->emulated, and two rows of an account");
_Static_assert(VM_MAX_SHARED <= 8, "a bit for each slot in an entry of vm->emulated");

void mmio_init(struct vm *vm)
{
	vm->emulated[PLIC] = !vm->config->aia && !vm->config->virt;
	vm->emulated[UART] = vm->config->console;
	vm->emulated[APLIC] = vm->config->aia;
	vm->emulated[PCI] = vm->pci.n > 0;
	vm->emulated[OPERATOR] = operator_is(vm);
	vm->emulated[RTC] = vm->config->rtc;
	vm->emulated[KEY] = vm->key != NULL;
	vm->emulated[PAIRS] = vm->config->virt;
	vm->emulated[SLOTS] = (uint8_t)vm_empty_slots(vm->config);
	vm->emulated[PORTS] = (uint8_t)((1U << vm_pci_ports(vm->config)) - 1);
	for (uint32_t n = 0; n < VM_MAX_SHARED; n++)
		vm->emulated[BELLS] |= !!vm->bell_of[n] << n;
}

const char *mmio_device_name(uint32_t device)
{
	return device && device <= DEVICES ? devices[device - 1].name : "nothing";
}

static inline bool is_at(const struct vm *vm, uint32_t n, uint64_t gpa)
{
	uint64_t offset = gpa - devices[n].base;

	return offset < devices[n].slot * devices[n].n_slots &&
	       vm->emulated[n] >> offset / devices[n].slot & 1;
}

uint32_t mmio_device(const struct vm *vm, uint64_t address)
{
	for (uint32_t n = 0; n < DEVICES; n++) {
		if (is_at(vm, n, address))
			return n + 1;
	}
	return 0;
}

static inline uint64_t faulting(void)
{
	return csr_read(CSR_HTVAL) << 2 | (csr_read(CSR_STVAL) & 3);
}

static inline uint64_t extend(uint64_t value, uint32_t width, bool sign)
{
	uint32_t shift = 64 - 8U * width;

	return sign ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/* The fast path: instructions that the hart has decoded, unless exits are traced. */
static inline bool is_fast(const struct vcpu *vcpu)
{
	return !atomic_load_explicit(&vcpu->traced, memory_order_relaxed);
}

/* For the few instructions that vpmu_retired_fast() has not counted on all counters. */
static __attribute__((noinline)) long retire_slow(uint64_t hctrs, long answer)
{
	vpmu_retired_slow(&this_vcpu()->pmu, hctrs);
	return answer;
}

/* Counts exit and instruction, and advances pc, after the access. */
static inline long finish(struct vcpu *vcpu, uint64_t htinst, long answer)
{
	uint64_t slow;

	vcpu->ctx.exits[EXIT_MMIO]++;
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + insn_transformed_length(htinst));
	vs_interrupts_settle();
	slow = vpmu_retired_fast(&vcpu->pmu, vcpu_from_user());
	return slow ? retire_slow(slow, answer) : answer;
}

/* These two are not inlined and read htinst again: mmio_load() and mmio_store() would save more
 * registers. */
static __attribute__((noinline, flatten)) long loaded(uint64_t value)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t htinst = csr_read(CSR_HTINST);
	uint32_t rd = insn_transformed_rd(htinst);

	vcpu->ctx.x[rd] =
	    extend(value, insn_transformed_width(htinst), insn_transformed_is_signed(htinst));
	return finish(vcpu, htinst, (long)(rd * sizeof(value)));
}

static __attribute__((noinline, flatten)) long stored(void)
{
	return finish(this_vcpu(), csr_read(CSR_HTINST), 0);
}

/* A store that is to be executed again: the exit counts, the instruction does not. */
static __attribute__((noinline)) long stored_in_part(void)
{
	struct vcpu *vcpu = this_vcpu();

	vcpu->call.again = false;
	vcpu->ctx.exits[EXIT_MMIO]++;
	vs_interrupts_settle();
	return 0;
}

/* Returns false if there is no device (a port or slot is none for a store), or if the exit has to
 * be recorded. The loop is unrolled, so that the table costs nothing: its addresses become
 * constants, and its pointers calls. */
static inline __attribute__((always_inline)) bool access(uint64_t htinst, bool store,
                                                         uint64_t *value)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t gpa = faulting();
	uint32_t width = insn_transformed_width(htinst);
	bool found = false;

#pragma GCC unroll 16
	for (uint32_t n = 0; n < DEVICES; n++) {
		if (!found && !(store && (n == PORTS || n == SLOTS)) && is_at(vcpu->vm, n, gpa)) {
			if (devices[n].recorded && vcpu->last_words)
				return false;
			if (store)
				devices[n].write(vcpu->vm, gpa - devices[n].base,
				                 vcpu->ctx.x[insn_transformed_rs2(htinst)], width);
			else
				*value = devices[n].read(vcpu->vm, gpa - devices[n].base, width);
			found = true;
		}
	}
	return found;
}

long mmio_load(uint64_t htinst)
{
	uint64_t value = 0;

	if (!insn_is_transformed_load(htinst) || !is_fast(this_vcpu()))
		return MMIO_NONE;
	return access(htinst, false, &value) ? loaded(value) : MMIO_NONE;
}

/* A store to a port or slot, which may be done in part. Apart, so that other stores do not pay for
 * it. */
static __attribute__((noinline)) long store_port(uint64_t htinst)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t gpa = faulting(), value = vcpu->ctx.x[insn_transformed_rs2(htinst)];
	uint32_t width = insn_transformed_width(htinst);

	if (vcpu->last_words)
		return MMIO_NONE;
	if (is_at(vcpu->vm, PORTS, gpa))
		ports_write(vcpu->vm, gpa - GUEST_PORT_BASE, value, width);
	else if (is_at(vcpu->vm, SLOTS, gpa))
		vm_slot_write(vcpu->vm, gpa - GUEST_SLOT_BASE, value, width);
	else
		return MMIO_NONE;
	return vcpu->call.again ? stored_in_part() : stored();
}

long mmio_store(uint64_t htinst)
{
	if (!insn_is_transformed_store(htinst) || !is_fast(this_vcpu()))
		return MMIO_NONE;
	return access(htinst, true, NULL) ? stored() : store_port(htinst);
}

/* There is no device, or an instruction that no device understands. */
static void refuse(struct vcpu *vcpu, bool store)
{
	vcpu_fw_count(vcpu, store ? SBI_PMU_FW_ACCESS_STORE : SBI_PMU_FW_ACCESS_LOAD);
	trap_inject(vcpu, store ? CAUSE_STORE_ACCESS : CAUSE_LOAD_ACCESS, csr_read(CSR_STVAL));
}

void mmio_access(struct vcpu *vcpu, bool store)
{
	struct vm *vm = vcpu->vm;
	uint64_t gpa = faulting();
	struct insn insn = insn_decode_htinst(csr_read(CSR_HTINST));
	uint32_t n = mmio_device(vm, gpa);
	const struct device *device = n ? &devices[n - 1] : NULL;
	uint64_t value;
	uint32_t raw;

	if (insn.kind == INSN_OTHER && !insn.implicit && device) {
		raw = guest_fetch();
		if (!raw)
			return;
		insn = insn_decode(raw);
	}
	if (!device && vm->config->bad_access_stops) {
		vm_failed(vcpu,
		          store ? "store outside its memory, to" : "load outside its memory, from",
		          gpa);
		return;
	}
	if (!device || insn.addr_offset || insn.kind != (store ? INSN_STORE : INSN_LOAD)) {
		refuse(vcpu, store);
		return;
	}
	if (store) {
		device->write(vm, gpa - device->base, vcpu->ctx.x[insn.reg], insn.width);
		if (vcpu->call.again) {
			vcpu->call.again = false;
			return;
		}
	} else {
		value = device->read(vm, gpa - device->base, insn.width);
		if (insn.reg)
			vcpu->ctx.x[insn.reg] = extend(value, insn.width, insn.sign_extend);
	}
	vcpu_emulated(vcpu, insn.length);
}
