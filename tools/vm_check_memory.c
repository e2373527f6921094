/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/config/host_memory.h"
#include "core/config/host_reserved.h"
#include "core/config/host_tree.h"
#include "core/config/vm_memory.h"

/* Where loaders put Tally, from the start of RAM; its size does not matter. */
#define IMAGE_AT UINT64_C(0x200000)
/* BOARD_RAM of the Makefile, if nothing else is asked for. */
#define BUILT_FOR UINT64_C(0x80000000)

struct vm_ram one_bank(uint64_t base, uint64_t size)
{
	return (struct vm_ram){.n = 1, .banks = {{base, base + size}}, .tally = base};
}

/* How likely it is that Tally is loaded to the RAM that begins there: the firmware is, of which the
 * tree says so, or Tally is built for it. */
static int likely(const void *tree, uint64_t base)
{
	struct host_reserved firmware;

	return host_reserved_find(tree, base, IMAGE_AT, &firmware) ? 2 : base == BUILT_FOR;
}

/* Where Tally is loaded nobody has said: to the likeliest range, and of several to the lowest. */
struct vm_ram host_memory(const void *tree, struct vm_range *image)
{
	struct host_place place = host_place_root(tree);
	struct vm_ram best = {0}, ram;
	uint64_t base = 0, size = 0;

	while (host_place_next(&place)) {
		if (!host_tree_says(tree, place.node[place.depth], "device_type", "memory"))
			continue;
		for (uint32_t i = 0; host_tree_reg(&place, i, &base, &size) == HOST_REG_OK; i++) {
			struct vm_range here = {base + IMAGE_AT, base + IMAGE_AT};
			int more;

			if (size <= IMAGE_AT || !host_memory_find(tree, here, &ram))
				continue;
			more =
			    best.n ? likely(tree, base) - likely(tree, image->from - IMAGE_AT) : 1;
			if (more < 0 || (more == 0 && ram.tally >= best.tally))
				continue;
			best = ram;
			*image = here;
		}
	}
	return best;
}

bool host_memory_is_kept(const void *tree, struct vm_range image, uint64_t tree_size,
                         struct vm_ram *ram)
{
	struct host_reserved found;

	return !host_memory_keep(tree, image, tree_size, ram, &found);
}

void print_places(const struct vm_config *vm)
{
	for (uint32_t i = 0; !vm->n_pieces && vm_piece(vm, i).size; i++)
		printf("  lies at   0x%" PRIx64 "\n", vm_piece(vm, i).host);
}

void print_shared_places(const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_shared; i++)
		printf("shared %s lies at 0x%" PRIx64 "\n", tree->shared[i].name,
		       tree->shared[i].host_base);
}

void print_banks(const struct vm_tree *tree, const struct vm_limits *limits)
{
	for (uint32_t i = 0; i < limits->ram.n; i++) {
		const struct vm_range *bank = &limits->ram.banks[i];
		struct vm_bank_use use = vm_bank_use(tree, limits, bank);

		printf("RAM 0x%" PRIx64 " to 0x%" PRIx64 ": %s%" PRIu32 " VM%s, ", bank->from,
		       bank->to - 1, use.tally ? "Tally, " : "", use.vms, use.vms == 1 ? "" : "s");
		if (use.shared)
			printf("%" PRIu32 " shared, ", use.shared);
		printf("%" PRIu64 " MiB free\n", use.free >> 20);
	}
}

void print_json_banks(const struct vm_tree *tree, const struct vm_limits *limits)
{
	printf("\"banks\":[");
	for (uint32_t i = 0; i < limits->ram.n; i++) {
		const struct vm_range *bank = &limits->ram.banks[i];
		struct vm_bank_use use = vm_bank_use(tree, limits, bank);

		printf("%s{\"base\":%" PRIu64 ",\"size\":%" PRIu64 ",\"tally\":%s,\"vms\":%" PRIu32
		       ",\"shared\":%" PRIu32 ",\"free\":%" PRIu64 "}",
		       i ? "," : "", bank->from, bank->to - bank->from,
		       use.tally ? "true" : "false", use.vms, use.shared, use.free);
	}
	printf("],");
}
