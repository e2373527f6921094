/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_memory_config.h"

#include <libfdt.h>

#include "core/host/host_reserved.h"
#include "core/tree/vm_aia.h"
#include "core/tree/vm_memory.h"

typedef unsigned long long ull;

static bool overlaps(uint64_t base, uint64_t size, const struct vm_range *range)
{
	return range->from < range->to &&
	       vm_ranges_overlap(base, size, range->from, range->to - range->from);
}

/* Refuses a piece in RAM that is not for VMs, or at addresses that a VM cannot have. */
static bool check_free(const struct vm_blob *b, int node, const struct vm_limits *limits,
                       const struct vm_config *vm, uint64_t base, uint64_t size)
{
	const struct vm_guests *guests = &limits->guests;
	struct host_reserved kept;
	uint64_t chip;

	if (host_reserved_find(limits->host_tree, base, size, &kept))
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_KEPT, node, "memory-at",
		    "the memory at 0x%llx overlaps /reserved-memory/%s of the host's tree, up to "
		    "0x%llx",
		    (ull)base, fdt_get_name(limits->host_tree, kept.node, NULL),
		    (ull)kept.range.to);
	if (overlaps(base, size, &guests->kept))
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_KEPT, node, "memory-at",
		    "the memory at 0x%llx %s what Tally keeps of RAM, %s 0x%llx", (ull)base,
		    base < guests->kept.from ? "reaches" : "begins in",
		    base < guests->kept.from ? "from" : "up to",
		    (ull)(base < guests->kept.from ? guests->kept.from : guests->kept.to));
	if (!base)
		return vm_refuse(b, VM_REFUSED_MEMORY_KEPT, node, "memory-at",
		                 "address 0 is for no VM");
	if (overlaps(base, size, &guests->tree))
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_KEPT, node, "memory-at",
		    "the memory at 0x%llx %s the VM tree, %s 0x%llx", (ull)base,
		    base < guests->tree.from ? "reaches" : "begins in",
		    base < guests->tree.from ? "which begins at" : "up to",
		    (ull)(base < guests->tree.from ? guests->tree.from : guests->tree.to));
	if (vm_covers_chip(vm, base, size, &chip))
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_GUEST, node, "memory-at",
		    "the memory at 0x%llx covers the VM's own interrupt controller, at 0x%llx",
		    (ull)base, (ull)chip);
	if (vm_ranges_overlap(base, size, GUEST_UART_BASE, GUEST_UART_SIZE))
		return vm_refuse_text(b, VM_REFUSED_MEMORY_GUEST, node, "memory-at",
		                      "the memory at 0x%llx covers the VM's own UART, at 0x%llx",
		                      (ull)base, (ull)GUEST_UART_BASE);
	if (base + size > GUEST_ADDRESS_END)
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_GUEST, node, "memory-at",
		    "the memory at 0x%llx goes on behind 0x%llx, where no VM has addresses",
		    (ull)base, (ull)GUEST_ADDRESS_END);
	return true;
}

static bool check_bank(const struct vm_blob *b, int node, const struct vm_ram *ram, uint64_t base,
                       uint64_t size)
{
	const struct vm_range *bank = ram->banks, *last = bank;

	for (uint32_t i = 0; i < ram->n; i++) {
		last = &ram->banks[i];
		if (bank->to <= base && i)
			bank = last;
	}
	if (base < bank->from)
		return vm_refuse_text(b, VM_REFUSED_MEMORY_RAM, node, "memory-at",
		                      "the memory at 0x%llx is no RAM that Tally uses, which "
		                      "%s at 0x%llx",
		                      (ull)base, bank == ram->banks ? "begins" : "goes on",
		                      (ull)bank->from);
	if (base >= bank->to)
		return vm_refuse_text(b, VM_REFUSED_MEMORY_RAM, node, "memory-at",
		                      "the memory at 0x%llx begins behind the end of RAM, 0x%llx",
		                      (ull)base, (ull)bank->to);
	if (size > bank->to - base)
		return vm_refuse_text(
		    b, VM_REFUSED_MEMORY_RAM, node, "memory-at",
		    bank == last ? "the memory at 0x%llx goes on behind the end of RAM, 0x%llx"
		                 : "the memory at 0x%llx goes on behind 0x%llx, where its bank of "
		                   "RAM ends",
		    (ull)base, (ull)bank->to);
	return true;
}

static bool check_piece(const struct vm_blob *b, int node, const struct vm_limits *limits,
                        const struct vm_config *vm, uint64_t base, uint64_t size)
{
	if (base % VM_MEMORY_STEP)
		return vm_refuse_text(b, VM_REFUSED_MEMORY, node, "memory-at",
		                      "0x%llx is not a multiple of 2 MiB", (ull)base);
	if (!size || size % VM_MEMORY_STEP)
		return vm_refuse_text(b, VM_REFUSED_MEMORY, node, "memory-at",
		                      "%llu bytes at 0x%llx are not a positive multiple of 2 MiB",
		                      (ull)size, (ull)base);
	return check_bank(b, node, &limits->ram, base, size) &&
	       check_free(b, node, limits, vm, base, size);
}

/* Returns the name of a VM whose memory-at has some of these addresses, or NULL. */
static const char *owner_of(const struct vm_tree *tree, uint64_t base, uint64_t size)
{
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		if (vm->n_pieces && vm_piece_at(vm, base, size).size)
			return vm->name;
	}
	return NULL;
}

static bool check_others(const struct vm_blob *b, int node, const struct vm_tree *tree,
                         uint64_t base, uint64_t size)
{
	const char *owner = owner_of(tree, base, size);

	return !owner ||
	       vm_refuse_text(b, VM_REFUSED_OVERLAP, node, "memory-at",
	                      "the memory at 0x%llx overlaps that of %s", (ull)base, owner);
}

/* Inserts a piece in the order of addresses. Pieces that touch are joined, so that memory that is
 * contiguous for the VM is one piece. */
static bool add_piece(const struct vm_blob *b, int node, struct vm_config *vm, uint64_t base,
                      uint64_t size)
{
	struct vm_piece other = vm_piece_at(vm, base, size);
	uint32_t at = vm->n_pieces, n = 0;

	if (other.size)
		return vm_refuse_text(b, VM_REFUSED_OVERLAP, node, "memory-at",
		                      "the pieces at 0x%llx and 0x%llx overlap", (ull)other.guest,
		                      (ull)base);
	for (; at > 0 && vm->pieces[at - 1].base > base; at--)
		vm->pieces[at] = vm->pieces[at - 1];
	vm->pieces[at].base = base;
	vm->pieces[at].size = size;
	vm->memory += size;
	for (uint32_t i = 1; i <= vm->n_pieces; i++) {
		if (vm->pieces[n].base + vm->pieces[n].size == vm->pieces[i].base)
			vm->pieces[n].size += vm->pieces[i].size;
		else
			vm->pieces[++n] = vm->pieces[i];
	}
	vm->n_pieces = n + 1;
	return true;
}

static bool parse_pieces(const struct vm_blob *b, int node, const struct vm_prop *prop,
                         const struct vm_limits *limits, const struct vm_tree *tree,
                         struct vm_config *vm)
{
	const fdt64_t *cells = prop->data;
	uint32_t n = prop->size / 16;

	if (prop->size % 16)
		return vm_refuse_text(
		    b, VM_REFUSED_SIZE, node, "memory-at",
		    "is %llu bytes long, not pairs of address and size, 16 bytes each",
		    (ull)prop->size);
	if (!n)
		return vm_refuse(b, VM_REFUSED_MEMORY, node, "memory-at", "names no memory");
	if (n > VM_MAX_PIECES)
		return vm_refuse_text(b, VM_REFUSED_TOO_MANY, node, "memory-at",
		                      "names %llu pieces, more than %llu", (ull)n,
		                      (ull)VM_MAX_PIECES);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t base = fdt64_ld(&cells[2UL * i]), size = fdt64_ld(&cells[2UL * i + 1]);

		if (!check_piece(b, node, limits, vm, base, size) ||
		    !check_others(b, node, tree, base, size) || !add_piece(b, node, vm, base, size))
			return false;
	}
	vm->ram_base = vm->host_base = vm->pieces[0].base;
	vm->first_size = vm->pieces[0].size;
	return true;
}

static bool parse_size(const struct vm_blob *b, int node, const struct vm_prop *prop,
                       struct vm_config *vm)
{
	uint64_t size;

	if (!vm_require(b, node, prop) || !vm_read_u64(b, node, prop, &size))
		return false;
	if (!size || size % VM_MEMORY_STEP)
		return vm_refuse_numbers(b, VM_REFUSED_MEMORY, node, prop->name,
		                         "# bytes is not a positive multiple of 2 MiB", size, 0);
	if (vm->n_pieces && size != vm->memory)
		return vm_refuse_numbers(b, VM_REFUSED_MEMORY, node, prop->name,
		                         "# bytes are not the # of memory-at", size, vm->memory);
	vm->memory = size;
	return true;
}

bool vm_parse_memory(const struct vm_blob *b, int node, const struct vm_prop *props,
                     const struct vm_limits *limits, const struct vm_tree *tree,
                     struct vm_config *vm)
{
	const struct vm_prop *size = &props[MEMORY_SIZE], *at = &props[MEMORY_AT];
	uint64_t all = vm_guest_sum(&limits->guests), taken = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++)
		taken += tree->vms[i].memory;
	if (at->data && !parse_pieces(b, node, at, limits, tree, vm))
		return false;
	if ((!at->data || size->data) && !parse_size(b, node, size, vm))
		return false;
	if (vm->memory > all - taken)
		return vm_refuse_numbers(
		    b, VM_REFUSED_MEMORY_SUM, node, at->data ? at->name : size->name,
		    "the VMs up to this one need # MiB, this machine has # MiB",
		    (taken >> 20) + (vm->memory >> 20), all >> 20);
	if (!at->data) {
		vm->ram_base = VM_RAM_BASE;
		vm->first_size = vm->memory;
	}
	return true;
}

/* The memory of a VM with PCI functions is followed by a guard. Returns the name of a range that
 * lies in the guard of chosen memory, or NULL if the guard is free. */
static const char *behind(const struct vm_limits *limits, const struct vm_tree *tree, uint64_t end,
                          uint64_t guard)
{
	const struct vm_range *bank = vm_bank_of(&limits->ram, end);
	struct host_reserved kept;

	if (overlaps(end, guard, &limits->guests.kept))
		return "Tally";
	if (overlaps(end, guard, &limits->guests.tree))
		return "the VM tree";
	if (!bank || guard > bank->to - end)
		return "no RAM";
	if (host_reserved_find(limits->host_tree, end, guard, &kept))
		return fdt_get_name(limits->host_tree, kept.node, NULL);
	return owner_of(tree, end, guard);
}

static bool check_guards(const struct vm_blob *b, int vms, const struct vm_limits *limits,
                         const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];
		uint64_t guard = vm_guard(vm);

		for (uint32_t k = 0; guard && k < vm->n_pieces; k++) {
			uint64_t end = vm->pieces[k].base + vm->pieces[k].size;
			const char *what = behind(limits, tree, end, guard);

			if (what)
				return vm_refuse_text(
				    b, VM_REFUSED_OVERLAP,
				    fdt_subnode_offset(b->blob, vms, vm->name), "memory-at",
				    "%llu MiB behind 0x%llx have to be free, where %s is: the VM "
				    "has PCI functions",
				    (ull)guard >> 20, (ull)end, what);
		}
	}
	return true;
}

bool vm_refuse_room(const struct vm_blob *b, int node, const char *property,
                    const struct vm_limits *limits, uint64_t size, uint64_t largest)
{
	return vm_refuse_numbers(
	    b, VM_REFUSED_MEMORY_ROOM, node, property,
	    limits->ram.n > 1 ? "no # MiB in one piece are left in a bank of RAM; at most #"
	                      : "no # MiB in one piece are left beside the memory of the VMs, "
	                        "/reserved-memory and the VM tree; at most #",
	    size >> 20, largest >> 20);
}

bool vm_check_room(const struct vm_blob *b, int vms, const struct vm_limits *limits,
                   struct vm_tree *tree)
{
	uint32_t which;
	uint64_t largest;

	if (!check_guards(b, vms, limits, tree))
		return false;
	if (vm_place_memory(tree, limits, &which, &largest))
		return true;
	return vm_refuse_room(b, fdt_subnode_offset(b->blob, vms, tree->vms[which].name), "memory",
	                      limits, tree->vms[which].memory, largest);
}
