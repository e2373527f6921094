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

/* Devices have the lowest free sources. */
static uint32_t free_source(const struct vm_config *vm)
{
	uint32_t source = GUEST_RTC_IRQ;

	if (!vm_has_irq(vm, source))
		return source;
	for (source = GUEST_PLIC_SOURCES; source && vm_has_irq(vm, source);)
		source--;
	return source;
}

void vm_choose_rtcs(struct vm_tree *tree)
{
	for (struct vm_config *vm = tree->vms; vm < tree->vms + tree->n_vms; vm++) {
		vm->rtc = !has_machines_rtc(vm) && !is_page_taken(tree, vm);
		vm->rtc_source = vm->rtc ? free_source(vm) : 0;
	}
}
