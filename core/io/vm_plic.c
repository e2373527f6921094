/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_plic.h"

#include "core/io/vm_interrupts.h"

uint32_t vm_plic_slots(const struct vm *vm)
{
	return !vm->config->aia;
}

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
