/* SPDX-License-Identifier: Apache-2.0 */
/* Devicetree Specification 0.4, 3.4: several nodes, and several ranges in one. */
#include "core/host/host_memory.h"

#include <libfdt.h>

#include "core/host/dt_path.h"
#include "core/host/host_tree.h"
#include "core/lib/types.h"

struct host_memory_walk host_memory_walk(const void *tree)
{
	return (struct host_memory_walk){tree, dt_memory(tree, -1), 0};
}

bool host_memory_next(struct host_memory_walk *walk, struct vm_range *range)
{
	for (; walk->node >= 0; walk->node = dt_memory(walk->tree, walk->node)) {
		struct host_place place = {.tree = walk->tree, .depth = 1, .node = {0, walk->node}};
		uint64_t base, size;

		if (host_tree_is_disabled(walk->tree, walk->node))
			continue;
		while (host_tree_reg(&place, walk->index, &base, &size) == HOST_REG_OK) {
			walk->index++;
			if (!size)
				continue;
			*range = (struct vm_range){base, base + size};
			return true;
		}
		walk->index = 0;
	}
	return false;
}

/* Adds a range, and joins it with the banks that it overlaps or touches. If there are too many
 * banks, it is not used. */
static void add(struct vm_ram *ram, struct vm_range range)
{
	uint32_t at;

	vm_ranges_join(ram->banks, &ram->n, &range);
	if (ram->n == VM_MAX_BANKS) {
		ram->beyond += range.to - range.from;
		return;
	}
	for (at = ram->n++; at && ram->banks[at - 1].from > range.from; at--)
		ram->banks[at] = ram->banks[at - 1];
	ram->banks[at] = range;
}

/* Whether the tree places the firmware in the RAM before Tally: it reserves the start of that RAM,
 * or some of it by no-map. Memory reserved for devices says nothing about the firmware. */
static bool keeps_before(const void *tree, uint64_t from, uint64_t tally)
{
	struct host_reserved found;

	return from < tally && (host_reserved_find(tree, from, 1, &found) ||
	                        host_reserved_no_map(tree, from, tally - from));
}

/* Places Tally's own memory in the bank with its image. */
static bool place_tally(const void *tree, struct vm_range image, struct vm_ram *ram)
{
	struct vm_range *own = (struct vm_range *)(uintptr_t)vm_bank_of(ram, image.from);

	if (!own || image.to > own->to)
		return false;
	ram->tally = ALIGN_UP(own->from, VM_MEMORY_STEP);
	/* The tables of 64 harts need 19 MiB. */
	if (image.to - own->from > VM_RESERVED_MEMORY / 4) {
		ram->tally = ALIGN_DOWN(image.from, VM_MEMORY_STEP);
		if (!keeps_before(tree, own->from, ram->tally)) {
			ram->before = ram->tally - own->from;
			own->from = ram->tally;
		}
	}
	return ram->tally >= own->from && ram->tally < own->to;
}

bool host_memory_find(const void *tree, struct vm_range image, struct vm_ram *ram)
{
	struct host_memory_walk walk = host_memory_walk(tree);
	struct vm_range range;

	/* Tally's bank is added first, so that it is not the one left out. */
	do {
		if (!host_memory_next(&walk, &range))
			return false;
	} while (image.from < range.from || image.from >= range.to);
	*ram = (struct vm_ram){0};
	add(ram, range);
	for (walk = host_memory_walk(tree); host_memory_next(&walk, &range);)
		add(ram, range);
	return place_tally(tree, image, ram);
}

bool host_memory_keep(const void *tree, struct vm_range image, const struct vm_ram *ram,
                      struct host_reserved *found)
{
	return !host_reserved_find(tree, image.from, ram->tally + VM_RESERVED_MEMORY - image.from,
	                           found);
}

const char *host_memory_misplaced(const void *tree, const struct vm_ram *ram,
                                  const struct vm_guests *guests, const struct vm_range *blob)
{
	const struct vm_range *bank = vm_bank_of(ram, blob->from);
	struct host_reserved found;

	if (blob->from < guests->kept.to && guests->kept.from < blob->to)
		return "puts the VM tree into Tally's 32 MiB";
	/* RAM below Tally that is in no bank may be the firmware's. */
	if (!bank && blob->from < guests->kept.from)
		return HOST_MEMORY_UNUSED;
	if (bank && blob->to > bank->to)
		return "puts the VM tree behind the end of RAM";
	if (host_reserved_find(tree, blob->from, blob->to - blob->from, &found))
		return "puts the VM tree into reserved memory";
	return blob->from % sizeof(uint64_t) ? "is not a multiple of 8" : NULL;
}
