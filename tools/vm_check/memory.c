/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/memory.h"

#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>

#include "core/host/host_memory.h"
#include "core/host/host_reserved.h"
#include "core/host/host_tree.h"
#include "core/tree/vm_memory.h"

/* Where loaders put Tally, from the start of RAM; its size does not matter. */
#define IMAGE_AT UINT64_C(0x200000)
/* The most that QEMU leaves between the kernel's place and the initrd's. */
#define QEMU_INITRD UINT64_C(0x20000000)
/* BOARD_RAM of the Makefile, if nothing else is asked for. */
#define BUILT_FOR UINT64_C(0x80000000)

/* Of the host's tree: where the RAM begins that Tally is built for. */
static uint64_t board_ram;

struct vm_ram one_bank(uint64_t base, uint64_t size)
{
	return (struct vm_ram){.n = 1, .banks = {{base, base + size}}, .tally = base};
}

/* Of /chosen, as boot reads it. 0: the tree does not have it. */
static uint64_t chosen_place(const void *tree)
{
	int length, chosen = tree ? fdt_subnode_offset(tree, 0, "chosen") : -1;
	const fdt32_t *start =
	    chosen < 0 ? NULL : fdt_getprop(tree, chosen, "linux,initrd-start", &length);

	return start ? host_tree_cells(start, length / 4) : 0;
}

struct vm_range tree_place(const void *tree, const struct ram_options *given, uint64_t tree_size,
                           const struct vm_ram *ram)
{
	uint64_t at = given->tree_at != RAM_NOT_GIVEN ? given->tree_at : chosen_place(tree);
	uint64_t sum = vm_ranges_sum(ram->banks, ram->n);

	/* QEMU: half of RAM behind the kernel, at most 512 MiB. */
	if (!at)
		at = ram->tally + IMAGE_AT + (sum / 2 < QEMU_INITRD ? sum / 2 : QEMU_INITRD);
	return (struct vm_range){at, at + tree_size < at ? UINT64_MAX : at + tree_size};
}

/* How likely it is that Tally is loaded to the RAM that begins there: the firmware is, which lets
 * nobody map its memory, or Tally is built for it. */
static int likely(const void *tree, uint64_t base)
{
	return host_reserved_no_map(tree, base, IMAGE_AT) ? 2 : base == BUILT_FOR;
}

enum fit { NO_RAM, KEPT, NO_ROOM, FITS };

/* Whether Tally can lie in the RAM from an address on, beside the VM tree and a VM. *kept: the
 * memory that it may not have. */
static enum fit fit_at(const void *tree, uint64_t base, const struct ram_options *given,
                       uint64_t tree_size, struct vm_ram *ram, struct host_reserved *kept)
{
	struct vm_range image = {base + IMAGE_AT, base + IMAGE_AT};
	struct vm_guests guests;
	struct vm_range blob;

	if (!host_memory_find(tree, image, ram))
		return NO_RAM;
	if (given->size != RAM_NOT_GIVEN)
		*ram = one_bank(ram->tally, given->size);
	if (!host_memory_keep(tree, image, ram, kept))
		return KEPT;
	blob = tree_place(tree, given, tree_size, ram);
	vm_guest_ranges(ram, &blob, &guests);
	return guests.n && !host_memory_misplaced(tree, ram, &guests, &blob) ? FITS : NO_ROOM;
}

/* Where Tally is loaded if nobody has said it: where it can lie; of several such ranges to the
 * likeliest, and of several of these to the lowest. */
static enum fit find_fit(const void *tree, const struct ram_options *given, uint64_t tree_size,
                         struct vm_ram *ram, struct host_reserved *kept)
{
	struct host_memory_walk walk = host_memory_walk(tree);
	enum fit best = NO_RAM;
	struct vm_range range;
	uint64_t base = 0;

	while (host_memory_next(&walk, &range)) {
		/* A tree may leave out the firmware's memory at the start of RAM. */
		uint64_t from = ALIGN_DOWN(range.from, VM_MEMORY_STEP);
		struct host_reserved found;
		struct vm_ram here;
		enum fit fit;
		int more;

		if (range.to - range.from <= IMAGE_AT)
			continue;
		fit = fit_at(tree, from, given, tree_size, &here, &found);
		more = (int)fit - (int)best;
		if (!more)
			more = likely(tree, from) - likely(tree, base);
		if (fit == NO_RAM || more < 0 || (!more && from >= base))
			continue;
		best = fit;
		base = from;
		*ram = here;
		if (fit == KEPT)
			*kept = found;
	}
	board_ram = base;
	return best;
}

const char *host_memory(const void *tree, const struct ram_options *given, uint64_t tree_size,
                        struct vm_ram *ram)
{
	bool told = given->board_ram != RAM_NOT_GIVEN;
	static char text[128];
	struct host_reserved kept = {0};

	board_ram = given->board_ram;
	switch (told ? fit_at(tree, given->board_ram, given, tree_size, ram, &kept)
	             : find_fit(tree, given, tree_size, ram, &kept)) {
	case FITS:
	case NO_ROOM: /* the VM tree is refused */
		return NULL;
	case KEPT:
		snprintf(text, sizeof(text),
		         "/reserved-memory: %s: 0x%" PRIx64 " lies in Tally or its tables",
		         fdt_get_name(tree, kept.node, NULL), kept.range.from);
		return text;
	default:
		return told ? "no memory node holds Tally's own address"
		            : "names no memory for Tally; the tree that the firmware passes on "
		              "does, in Linux /sys/firmware/fdt";
	}
}

/* Whether there is memory for VMs directly before the VM tree and behind it. */
static bool splits(const struct vm_guests *guests)
{
	bool before = false, behind = false;

	for (uint32_t i = 0; i < guests->n; i++) {
		before |= guests->ranges[i].to == guests->tree.from;
		behind |= guests->ranges[i].from == guests->tree.to;
	}
	return before && behind;
}

void print_tree_place(const struct vm_tree *tree, const struct vm_limits *limits,
                      const struct vm_range *blob)
{
	printf("the VM tree lies at 0x%" PRIx64 " to 0x%" PRIx64 "; one more VM could have %" PRIu64
	       " MiB%s\n",
	       blob->from, blob->to - 1, vm_largest_free(tree, limits) >> 20,
	       splits(&limits->guests) ? ", more if the tree were at an end of RAM" : "");
}

void print_json_tree_place(const struct vm_tree *tree, const struct vm_limits *limits,
                           const struct vm_range *blob)
{
	printf("\"tree_at\":%" PRIu64 ",\"largest\":%" PRIu64 ",", blob->from,
	       vm_largest_free(tree, limits));
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

static void print_unused(const struct vm_ram *ram, bool json)
{
	const char *format = json ? "\"%" PRIu64 " MiB of RAM%s\"" : "%" PRIu64 " MiB of RAM%s\n";

	if (ram->before)
		printf(format, ram->before >> 20, VM_RAM_BEFORE);
	if (json && ram->before && ram->beyond)
		putchar(',');
	if (ram->beyond)
		printf(format, ram->beyond >> 20, VM_RAM_BEYOND);
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
	print_unused(&limits->ram, false);
	printf("Tally lies at 0x%" PRIx64 ": make", board_ram + IMAGE_AT);
	if (board_ram != BUILT_FOR)
		printf(" BOARD_RAM=0x%" PRIx64, board_ram);
	putchar('\n');
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
	printf("],\"unused\":[");
	print_unused(&limits->ram, true);
	printf("],\"board_ram\":%" PRIu64 ",", board_ram);
}
