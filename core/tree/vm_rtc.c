/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"
#include "core/tree/vm_memory.h"

static bool has_machines_rtc(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].reset == VM_RESET_GOLDFISH_RTC)
			return true;
	}
	return false;
}

static bool is_page_taken(const struct vm_tree *tree, const struct vm_config *vm)
{
	uint64_t at;

	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm_ranges_overlap(GUEST_RTC_BASE, GUEST_RTC_SIZE, vm->shared[i].at,
		                      tree->shared[vm->shared[i].number].size))
			return true;
	}
	return vm_piece_at(vm, GUEST_RTC_BASE, GUEST_RTC_SIZE).size ||
	       vm_device_at(vm, GUEST_RTC_BASE, GUEST_RTC_SIZE, &at);
}

bool vm_choose_rtc(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;

	vm->rtc_source = 0;
	vm->rtc = !has_machines_rtc(vm) && !is_page_taken(n->tree, vm);
	if (vm->rtc)
		vm->rtc_source = vm_has_irq(vm, GUEST_RTC_IRQ) ? vm_highest_irq(vm) : GUEST_RTC_IRQ;
	return true;
}
