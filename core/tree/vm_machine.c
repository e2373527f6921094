/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_machine.h"

#include "core/tree/vm_memory.h"

bool vm_parse_machine(const struct vm_node *n, const struct vm_prop *prop)
{
	if (!vm_read_choice(n, prop, "tally", "virt", &n->vm->virt))
		return false;
	return !n->vm->virt || !n->vm->aia ||
	       vm_refuse(n, VM_REFUSED_VALUE, "machine",
	                 "\"virt\" has a PLIC, and interrupts is \"aia\"");
}

uint32_t vm_empty_slots(const struct vm_config *vm)
{
	uint32_t empty = 0;
	uint64_t at;

	for (uint32_t i = 0; i < GUEST_SLOTS && vm->virt; i++) {
		if (!vm_device_at(vm, GUEST_SLOT_BASE + i * GUEST_SLOT_STEP, GUEST_SLOT_STEP, &at))
			empty |= 1U << i;
	}
	return empty;
}

uint32_t vm_machine_irq(const struct vm_config *vm, uint64_t registers)
{
	uint64_t slot = (registers - GUEST_SLOT_BASE) / GUEST_SLOT_STEP;

	if (!vm->virt)
		return 0;
	if (registers == GUEST_RTC_BASE)
		return GUEST_RTC_IRQ;
	return slot < GUEST_SLOTS ? (uint32_t)slot + 1 : 0;
}
