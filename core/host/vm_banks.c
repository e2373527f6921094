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

_Static_assert(VM_MAX_BANKS == 16, "the words below");

const char *vm_ram_unused(const struct vm_ram *ram, uint32_t number, uint64_t *bytes)
{
	switch (number) {
	case 0:
		*bytes = ram->before;
		return " before Tally are not used: the host's tree does not say where in them the "
		       "firmware is";
	case 1:
		*bytes = ram->behind;
		return " are not used: they lie behind what the host's tree keeps";
	case 2:
		*bytes = ram->beyond;
		return " are not used: Tally uses 16 banks at most";
	default:
		return NULL;
	}
}

uint64_t vm_guest_sum(const struct vm_guests *guests)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < guests->n; i++)
		sum += guests->ranges[i].to - guests->ranges[i].from;
	return sum;
}

static void add(struct vm_guests *guests, uint64_t from, uint64_t to)
{
	if (from < to)
		guests->ranges[guests->n++] = (struct vm_range){from, to};
}

/* Returns false if it does not fit. */
static bool place_tree(struct vm_guests *guests, uint32_t i, uint64_t tree_size)
{
	struct vm_range *range = &guests->ranges[i];

	if (tree_size > range->to - range->from)
		return false;
	guests->tree =
	    (struct vm_range){ALIGN_DOWN(range->to - tree_size, VM_MEMORY_STEP), range->to};
	range->to = guests->tree.from;
	if (range->from < range->to)
		return true;
	for (guests->n--; i < guests->n; i++)
		guests->ranges[i] = guests->ranges[i + 1];
	return true;
}

void vm_guest_ranges(const struct vm_ram *ram, uint64_t tree_size, struct vm_guests *guests)
{
	const struct vm_range *own = vm_bank_of(ram, ram->tally);
	uint64_t behind = own ? ALIGN_DOWN(own->to, VM_MEMORY_STEP) : 0;

	guests->n = 0;
	guests->tree = guests->kept = (struct vm_range){behind, behind};
	if (!own || behind - ram->tally < VM_RESERVED_MEMORY) {
		guests->kept.from = own ? ram->tally : behind;
		return;
	}
	guests->kept = (struct vm_range){ram->tally, ram->tally + VM_RESERVED_MEMORY};
	for (uint32_t i = 0; i < ram->n; i++) {
		const struct vm_range *bank = &ram->banks[i];
		/* Address 0 is excluded: guest_mem() uses it for no memory. */
		uint64_t from = ALIGN_UP(bank->from ? bank->from : 1, VM_MEMORY_STEP),
		         to = ALIGN_DOWN(bank->to, VM_MEMORY_STEP);

		if (from < bank->from)
			continue;
		if (bank == own) {
			add(guests, from, guests->kept.from);
			from = guests->kept.to;
		}
		add(guests, from, to);
	}
	for (uint32_t i = 0; i < guests->n; i++) {
		if (guests->ranges[i].from == guests->kept.to && place_tree(guests, i, tree_size))
			return;
	}
	for (uint32_t i = guests->n; i--;) {
		if (guests->ranges[i].to != guests->kept.from && place_tree(guests, i, tree_size))
			return;
	}
	guests->n = 0;
	guests->tree.from = guests->kept.to;
}

bool vm_ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}
