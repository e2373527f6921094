/* SPDX-License-Identifier: Apache-2.0 */
/* Devicetree Specification 0.4, 3.4: several nodes, and several ranges in one. */
#include "core/config/host_memory.h"

#include "core/config/dt_path.h"
#include "core/config/host_tree.h"
#include "core/lib/types.h"

/* All ranges of memory, one after the other. */
struct memory_walk {
	const void *tree;
	int node;
	uint32_t index;
};

static struct memory_walk memory_walk(const void *tree)
{
	return (struct memory_walk){tree, dt_memory(tree, -1), 0};
}

static bool memory_next(struct memory_walk *walk, struct vm_range *range)
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

/* Adds the ranges that begin in it, or where it ends. Each round makes it larger. */
static void go_on(const void *tree, struct vm_range *ram)
{
	struct memory_walk walk = memory_walk(tree);
	struct vm_range more;

	while (memory_next(&walk, &more)) {
		if (more.from < ram->from || more.from > ram->to || more.to <= ram->to)
			continue;
		ram->to = more.to;
		walk = memory_walk(tree);
	}
}

bool host_memory_find(const void *tree, struct vm_range image, struct vm_range *ram)
{
	struct memory_walk walk = memory_walk(tree);

	do {
		if (!memory_next(&walk, ram))
			return false;
	} while (image.from < ram->from || image.from >= ram->to);
	go_on(tree, ram);
	if (image.to - ram->from > VM_RESERVED_MEMORY / 2)
		ram->from = ALIGN_DOWN(image.from, VM_MEMORY_STEP);
	return image.to <= ram->to;
}

uint64_t host_memory_sum(const void *tree)
{
	struct memory_walk walk = memory_walk(tree);
	struct vm_range range;
	uint64_t sum = 0;

	while (memory_next(&walk, &range))
		sum += range.to - range.from;
	return sum;
}

bool host_memory_keep(const void *tree, struct vm_range image, uint64_t tree_size,
                      struct vm_range *ram, struct host_reserved *found)
{
	struct vm_range guests = vm_guest_range(*ram, tree_size);

	if (host_reserved_find(
	        tree, image.from,
	        ALIGN_UP(ram->from, VM_MEMORY_STEP) + VM_RESERVED_MEMORY - image.from, found))
		return false;
	while (guests.from < guests.to &&
	       host_reserved_find(tree, guests.to - HOST_TREE_MAX,
	                          ram->to - (guests.to - HOST_TREE_MAX), found)) {
		ram->to = found->range.from;
		guests = vm_guest_range(*ram, tree_size);
	}
	return true;
}
