/* SPDX-License-Identifier: Apache-2.0 */
/* Divides RAM between VMs, Tally and the VM tree. */
#include "core/host/vm_config.h"
#include "core/lib/types.h"

const struct vm_range *vm_bank_of(const struct vm_ram *ram, uint64_t address)
{
	for (uint32_t i = 0; i < ram->n; i++) {
		if (address >= ram->banks[i].from && address < ram->banks[i].to)
			return &ram->banks[i];
	}
	return NULL;
}

void vm_ranges_join(struct vm_range *list, uint32_t *n, struct vm_range *range)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++) {
		struct vm_range other = list[i];

		if (other.to < range->from || range->to < other.from) {
			list[kept++] = other;
			continue;
		}
		range->from = other.from < range->from ? other.from : range->from;
		range->to = other.to > range->to ? other.to : range->to;
	}
	*n = kept;
}

uint64_t vm_ranges_sum(const struct vm_range *ranges, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += ranges[i].to - ranges[i].from;
	return sum;
}

static void add(struct vm_guests *guests, uint64_t from, uint64_t to)
{
	if (from < to)
		guests->ranges[guests->n++] = (struct vm_range){from, to};
}

/* Adds a range without the steps of the VM tree. */
static void add_beside_tree(struct vm_guests *guests, uint64_t from, uint64_t to)
{
	const struct vm_range *tree = &guests->tree;

	if (tree->from >= tree->to || tree->to <= from || tree->from >= to) {
		add(guests, from, to);
		return;
	}
	add(guests, from, tree->from);
	add(guests, tree->to, to);
}

/* The last step of the address space has no end: it would wrap to 0. */
static uint64_t step_end(uint64_t to)
{
	uint64_t end = ALIGN_UP(to, VM_MEMORY_STEP);

	return end ? end : ALIGN_DOWN(to, VM_MEMORY_STEP);
}

void vm_guest_ranges(const struct vm_ram *ram, const struct vm_range *blob,
                     struct vm_guests *guests)
{
	const struct vm_range *own = vm_bank_of(ram, ram->tally);
	uint64_t behind = own ? ALIGN_DOWN(own->to, VM_MEMORY_STEP) : 0;

	guests->n = 0;
	guests->tree =
	    (struct vm_range){ALIGN_DOWN(blob->from, VM_MEMORY_STEP), step_end(blob->to)};
	if (blob->from >= blob->to)
		guests->tree.to = guests->tree.from;
	guests->kept = (struct vm_range){own ? ram->tally : behind, behind};
	if (!own || behind - ram->tally < VM_RESERVED_MEMORY)
		return;
	guests->kept.to = ram->tally + VM_RESERVED_MEMORY;
	for (uint32_t i = 0; i < ram->n; i++) {
		const struct vm_range *bank = &ram->banks[i];
		/* Address 0 is excluded: guest_mem() uses it for no memory. */
		uint64_t from = ALIGN_UP(bank->from ? bank->from : 1, VM_MEMORY_STEP),
		         to = ALIGN_DOWN(bank->to, VM_MEMORY_STEP);

		if (from < bank->from)
			continue;
		if (bank == own) {
			add_beside_tree(guests, from, guests->kept.from);
			from = guests->kept.to;
		}
		add_beside_tree(guests, from, to);
	}
}

bool vm_ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}
