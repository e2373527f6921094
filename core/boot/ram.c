/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include "arch/riscv/hart/touch.h"
#include "core/hart/platform.h"
#include "core/host/host_memory.h"
#include "core/lib/text.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/tree/vm_memory.h"

/* Accesses both ends of a step. *lost is the address that HS cannot access. */
static bool reaches_step(uint64_t at, uint64_t *lost)
{
	*lost = at;
	if (!touch(at))
		return false;
	*lost = at + VM_MEMORY_STEP - sizeof(uint64_t);
	return touch(*lost);
}

/* Accesses the first and the last step of a range that the host's tree does not reserve. */
static bool reaches_range(const void *dtb, uint64_t from, uint64_t to, uint64_t *lost)
{
	struct host_reserved kept;
	uint64_t first = ALIGN_UP(from, VM_MEMORY_STEP), end = ALIGN_DOWN(to, VM_MEMORY_STEP);

	/* After the last step of the address space `first` wraps to 0. */
	while (first >= from && first < end &&
	       host_reserved_find(dtb, first, VM_MEMORY_STEP, &kept))
		first = ALIGN_UP(kept.range.to, VM_MEMORY_STEP);
	if (first < from || first >= end)
		return true;
	while (host_reserved_find(dtb, end - VM_MEMORY_STEP, VM_MEMORY_STEP, &kept))
		end = ALIGN_DOWN(kept.range.from, VM_MEMORY_STEP);
	return reaches_step(first, lost) && reaches_step(end - VM_MEMORY_STEP, lost);
}

static void tell_lost(uint64_t from, uint64_t to, uint64_t lost)
{
	log_line("RAM 0x%lx to 0x%lx is not used: HS cannot read and write it at 0x%lx", from,
	         to - 1, lost);
}

/* Tests Tally's bank before and after Tally's own memory. */
static void try_own(const void *dtb, struct vm_range *own)
{
	uint64_t lost, end = platform.ram.tally + VM_RESERVED_MEMORY;

	if (!reaches_range(dtb, own->from, platform.ram.tally, &lost)) {
		tell_lost(own->from, platform.ram.tally, lost);
		own->from = platform.ram.tally;
	}
	if (!reaches_range(dtb, end, own->to, &lost))
		platform_lacks("host tree: HS cannot read and write RAM at 0x%lx", lost);
}

void ram_try(const void *dtb)
{
	struct vm_ram *ram = &platform.ram;
	const struct vm_range *own = vm_bank_of(ram, ram->tally);
	uint32_t n = 0;

	for (uint32_t i = 0; i < ram->n; i++) {
		struct vm_range bank = ram->banks[i];
		uint64_t lost;

		if (&ram->banks[i] == own) {
			try_own(dtb, &bank);
		} else if (!reaches_range(dtb, bank.from, bank.to, &lost)) {
			tell_lost(bank.from, bank.to, lost);
			continue;
		}
		ram->banks[n++] = bank;
	}
	ram->n = n;
}

void ram_report_unused(void)
{
	const struct vm_ram *ram = &platform.ram;

	if (ram->before)
		log_line("%lu MiB of RAM" VM_RAM_BEFORE, ram->before >> 20);
	if (ram->beyond)
		log_line("%lu MiB of RAM" VM_RAM_BEYOND, ram->beyond >> 20);
}

void ram_report_use(const struct vm_tree *tree, const struct vm_limits *limits)
{
	for (uint32_t i = 0; i < limits->ram.n && limits->ram.n > 1; i++) {
		const struct vm_range *bank = &limits->ram.banks[i];
		struct vm_bank_use use = vm_bank_use(tree, limits, bank);
		char shared[24] = "";
		struct text text = text_begin(shared, sizeof(shared));

		if (use.shared)
			text_add(&text, "%u shared, ", use.shared);
		log_line("RAM 0x%lx to 0x%lx: %s%u VM%s, %s%lu MiB free", bank->from, bank->to - 1,
		         use.tally ? "Tally, " : "", use.vms, use.vms == 1 ? "" : "s", shared,
		         use.free >> 20);
	}
}
