/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

uint32_t vm_highest_irq(const struct vm_config *vm)
{
	uint32_t source = GUEST_PLIC_SOURCES;

	while (source && vm_has_irq(vm, source))
		source--;
	return source;
}

bool vm_check_key(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;

	if (vm->shutdown != VM_SHUTDOWN_KEY)
		return true;
	vm->key_source = vm_highest_irq(vm);
	if (!vm->key_source)
		return vm_refuse(n, VM_REFUSED_INTERRUPT, "shutdown",
		                 "no source of the VM's interrupt controller is left for the "
		                 "power key");
	return vm_check_key_bus(n, "shutdown");
}
