/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_interrupts.h"
#include "arch/riscv/devices/imsic.h"
#include "core/io/wired.h"
#include "core/sched/port.h"
#include "core/sched/sched.h"
#include "core/vcpu/vcpu.h"
#include "vpmu/bits.h"

static void send_messages(struct vm *vm)
{
	struct vaplic_message message;

	while (vaplic_take(&vm->aplic, &message))
		imsic_send(vm->vcpus[message.vcpu]->guest_file_at, message.identity);
}

/* Passes a changed output of a vcpu's context on to the vcpu. */
static inline void tell_vcpu(struct vm *vm, uint32_t i, bool level)
{
	struct vcpu *vcpu = vm->vcpus[i];

	vm->plic_outputs ^= BIT(i);
	if (vcpu_home(vcpu) != this_pcpu()) {
		vcpu_request(vcpu, REQ_DEVICES);
		return;
	}
	vcpu_set_virq(vcpu, IRQ_VSEI, level);
	if (!vcpu_is_current(vcpu))
		sched_wake_if_interrupted(vcpu);
}

/* For several vcpus. Not inlined, because vm_raise() would save more registers. */
static __attribute__((noinline)) void tell_vcpus(struct vm *vm, uint32_t which)
{
	for (uint32_t i = 0; which; i++, which >>= 1) {
		if (which & 1)
			tell_vcpu(vm, i, true);
	}
}

void vm_update_interrupts(struct vm *vm)
{
	if (vm->config->aia) {
		send_messages(vm);
		return;
	}
	vm->plic.changed &= ~VPLIC_OUTPUTS;
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		bool level = vplic_output(&vm->plic, i);

		/* Most accesses change nothing, and a request would interrupt the other hart. */
		if (level != !!(vm->plic_outputs & BIT(i)))
			tell_vcpu(vm, i, level);
	}
}

void vm_raise(struct vm *vm, uint32_t source)
{
	uint32_t told;

	if (vm->config->aia) {
		vm_set_level(vm, source, true);
		return;
	}
	told = vplic_raise(&vm->plic, source) & ~(uint32_t)vm->plic_outputs;
	if (told == 1)
		tell_vcpu(vm, 0, true);
	else if (told)
		tell_vcpus(vm, told);
}

void vm_set_level(struct vm *vm, uint32_t source, bool level)
{
	if (level == vplic_level(&vm->plic, source))
		return;
	vplic_set_level(&vm->plic, source, level);
	if (vm->config->aia)
		vaplic_set_level(&vm->aplic, source, level);
	/* The PLIC had no other changes to pass on. */
	vm->plic.changed = 0;
	vm_update_interrupts(vm);
}

/* Not inlined, because few accesses change anything. */
__attribute__((noinline)) void vm_update_devices_slow(struct vm *vm)
{
	uint32_t changed = vm->plic.changed, completed = vm->plic.completed, source;

	vm->plic.changed = 0;
	vm->plic.completed = 0;
	for_each_bit (source, completed & vm->wired)
		wired_complete(vm, source);
	if (changed & VPLIC_ENABLES)
		wired_update_routes(vm);
	if (changed & VPLIC_OUTPUTS)
		vm_update_interrupts(vm);
}

__attribute__((noinline)) uint64_t vm_devices_unlock_changed(struct vm *vm, uint64_t value)
{
	vm_update_devices_slow(vm);
	spin_unlock(&vm->devices);
	return value;
}

/* --- accesses of the guest ----------------------------------------------------------------- */

__attribute__((flatten)) uint64_t vm_plic_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	if (width != 4)
		return 0;
	spin_lock(&vm->devices);
	return vm_devices_unlock(vm, vplic_read(&vm->plic, (uint32_t)offset));
}

__attribute__((flatten)) void vm_plic_write(struct vm *vm, uint64_t offset, uint64_t value,
                                            uint32_t width)
{
	if (width != 4)
		return;
	spin_lock(&vm->devices);
	vplic_write(&vm->plic, (uint32_t)offset, (uint32_t)value);
	(void)vm_devices_unlock(vm, 0);
}

/* For registers with bits that are in the host's APLIC. */
static __attribute__((noinline)) uint64_t read_wired(struct vm *vm, uint32_t offset)
{
	uint64_t value;

	spin_lock(&vm->devices);
	value = vaplic_read(&vm->aplic, offset, wired_bits(vm, vaplic_needs(offset)));
	spin_unlock(&vm->devices);
	return value;
}

__attribute__((flatten)) uint64_t vm_aplic_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint64_t value;

	if (width != 4)
		return 0;
	if (vm->wired && vaplic_needs((uint32_t)offset) != VAPLIC_NEEDS_NOTHING)
		return read_wired(vm, (uint32_t)offset);
	spin_lock(&vm->devices);
	value = vaplic_read(&vm->aplic, (uint32_t)offset, 0);
	spin_unlock(&vm->devices);
	return value;
}

/* Performs the effects of a write outside the model, and releases the lock. */
static __attribute__((noinline)) void changed(struct vm *vm)
{
	const struct vaplic_change *change = &vm->aplic_change;

	if (change->extempore)
		imsic_send(vm->vcpus[change->message.vcpu]->guest_file_at,
		           change->message.identity);
	wired_update(vm, change);
	vm_update_interrupts(vm);
	spin_unlock(&vm->devices);
}

__attribute__((flatten)) void vm_aplic_write(struct vm *vm, uint64_t offset, uint64_t value,
                                             uint32_t width)
{
	if (width != 4)
		return;
	spin_lock(&vm->devices);
	vaplic_write(&vm->aplic, (uint32_t)offset, (uint32_t)value, &vm->aplic_change);
	if (vaplic_changes(&vm->aplic_change) || vaplic_has_message(&vm->aplic))
		changed(vm);
	else
		spin_unlock(&vm->devices);
}
