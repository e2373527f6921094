/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/pci_bus.h"

#include "core/io/bell_pci.h"
#include "core/io/functions.h"

uint32_t pci_bus_slots(const struct vm *vm)
{
	return vm->pci.n || vm->bells;
}

uint64_t pci_bus_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint64_t value;

	if (vm->bells && bell_pci_access(vm, (uint32_t)offset, false, &value, width))
		return value;
	return functions_access(vm, offset, false, 0, width);
}

void pci_bus_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	if (!vm->bells || !bell_pci_access(vm, (uint32_t)offset, true, &value, width))
		(void)functions_access(vm, offset, true, value, width);
}
