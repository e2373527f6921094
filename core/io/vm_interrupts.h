/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of a VM by its PLIC, or by its APLIC if it has an AIA. */
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

/* Passes on changes by accesses to the devices. The caller holds vm->devices. */
void vm_update_devices_slow(struct vm *vm);
static inline void vm_update_devices(struct vm *vm)
{
	if (vm->plic.changed)
		vm_update_devices_slow(vm);
}

/* Does that if there are any, and releases vm->devices. Returns `value`: an access that ends with
 * this call saves no registers. */
uint64_t vm_devices_unlock_changed(struct vm *vm, uint64_t value);
static inline uint64_t vm_devices_unlock(struct vm *vm, uint64_t value)
{
	if (vm->plic.changed)
		return vm_devices_unlock_changed(vm, value);
	spin_unlock(&vm->devices);
	return value;
}

/* Accesses of the guest: rows of core/dispatch/mmio.c. */
uint64_t vm_plic_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_plic_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);
uint64_t vm_aplic_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_aplic_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
