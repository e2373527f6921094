/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

/* Returns how many vcpus up to this one have a guest interrupt file on its hart. */
static uint32_t files_with(const struct vm_node *n, uint32_t index)
{
	uint32_t files = 0;

	for (const struct vm_config *vm = n->tree->vms; vm <= n->vm; vm++) {
		uint32_t vcpus = vm < n->vm ? vm->n_vcpus : index + 1;

		for (uint32_t k = 0; k < vcpus && vm->aia; k++)
			files += vm->vcpus[k].first_hart == n->vm->vcpus[index].first_hart;
	}
	return files;
}

static bool check_files(const struct vm_node *n, uint32_t index)
{
	uint32_t hart = n->vm->vcpus[index].first_hart, id = n->limits->harts.ids[hart];
	uint32_t files, number = files_with(n, index);

	if (!n->limits->guest_files)
		return true;
	files = n->limits->guest_files(hart);
	if (number <= files)
		return true;
	if (!files)
		return vm_refuse(n, VM_REFUSED_GUEST_FILES, "interrupts",
		                 "\"aia\": hart %u has no guest interrupt files", id);
	return vm_refuse(n, VM_REFUSED_GUEST_FILES, "interrupts",
	                 "\"aia\": hart %u has %u guest interrupt file%s, and vcpu%u would be "
	                 "number %u there",
	                 id, files, files == 1 ? "" : "s", index, number);
}

bool vm_parse_interrupts(const struct vm_node *n, const struct vm_prop *prop)
{
	struct vm_config *vm = n->vm;

	if (!vm_read_choice(n, prop, "plic", "aia", &vm->aia))
		return false;
	for (uint32_t i = 0; i < vm->n_vcpus && vm->aia; i++) {
		if (vm->vcpus[i].harts & (vm->vcpus[i].harts - 1))
			return vm_refuse(n, VM_REFUSED_GUEST_FILES, "interrupts",
			                 "\"aia\" keeps each vcpu on one hart, and vcpu%u may be "
			                 "on several",
			                 i);
		if (!check_files(n, i))
			return false;
	}
	return true;
}

bool vm_covers_chip(const struct vm_config *vm, uint64_t base, uint64_t size, uint64_t *chip)
{
	const struct {
		uint64_t base, size;
		bool aia;
	} chips[] = {
	    {GUEST_PLIC_BASE, GUEST_PLIC_SIZE, false},
	    {GUEST_APLIC_BASE, GUEST_APLIC_SIZE, true},
	    {GUEST_IMSIC_BASE, GUEST_IMSIC_SIZE, true},
	};

	for (uint32_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		*chip = chips[i].base;
		if (chips[i].aia == vm->aia &&
		    vm_ranges_overlap(base, size, chips[i].base, chips[i].size))
			return true;
	}
	return false;
}
