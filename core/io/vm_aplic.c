/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_aplic.h"

#include "arch/riscv/devices/imsic.h"
#include "core/io/vm_interrupts.h"
#include "core/io/wired.h"

uint32_t vm_aplic_slots(const struct vm *vm)
{
	return vm->config->aia;
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
