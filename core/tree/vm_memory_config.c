/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>

#include "core/host/host_reserved.h"
#include "core/tree/vm_memory.h"

static bool overlaps(uint64_t base, uint64_t size, const struct vm_range *range)
{
	return range->from < range->to &&
	       vm_ranges_overlap(base, size, range->from, range->to - range->from);
}

/* Refuses a piece that begins in a range or reaches into it. */
static bool refuse_range(const struct vm_node *n, uint64_t base, const char *what,
                         const char *begins, const struct vm_range *range)
{
	bool before = base < range->from;

	return vm_refuse(n, VM_REFUSED_MEMORY_KEPT, "memory-at",
	                 "the memory at 0x%lx %s %s, %s 0x%lx", base,
	                 before ? "reaches" : "begins in", what, before ? begins : "up to",
	                 before ? range->from : range->to);
}

/* Refuses a piece in RAM that is not for VMs, or at addresses that a VM cannot have. */
static bool check_free(const struct vm_node *n, uint64_t base, uint64_t size)
{
	const void *host = n->limits->host_tree;
	const struct vm_guests *guests = &n->limits->guests;
	struct host_reserved kept;
	uint64_t chip;

	if (host_reserved_find(host, base, size, &kept))
		return vm_refuse(n, VM_REFUSED_MEMORY_KEPT, "memory-at",
		                 "the memory at 0x%lx overlaps /reserved-memory/%s of the host's "
		                 "tree, up to 0x%lx",
		                 base, fdt_get_name(host, kept.node, NULL), kept.range.to);
	if (overlaps(base, size, &guests->kept))
		return refuse_range(n, base, "what Tally keeps of RAM", "from", &guests->kept);
	if (!base)
		return vm_refuse(n, VM_REFUSED_MEMORY_KEPT, "memory-at", "address 0 is for no VM");
	if (overlaps(base, size, &guests->tree))
		return refuse_range(n, base, "the VM tree", "which begins at", &guests->tree);
	if (vm_covers_chip(n->vm, base, size, &chip))
		return vm_refuse(n, VM_REFUSED_MEMORY_GUEST, "memory-at",
		                 "the memory at 0x%lx covers the VM's own interrupt controller, at "
		                 "0x%lx",
		                 base, chip);
	if (vm_ranges_overlap(base, size, GUEST_UART_BASE, GUEST_UART_SIZE))
		return vm_refuse(n, VM_REFUSED_MEMORY_GUEST, "memory-at",
		                 "the memory at 0x%lx covers the VM's own UART, at 0x%lx", base,
		                 GUEST_UART_BASE);
	return base + size <= GUEST_ADDRESS_END ||
	       vm_refuse(n, VM_REFUSED_MEMORY_GUEST, "memory-at",
	                 "the memory at 0x%lx goes on behind 0x%lx, where no VM has addresses",
	                 base, GUEST_ADDRESS_END);
}

static bool check_bank(const struct vm_node *n, uint64_t base, uint64_t size)
{
	const struct vm_ram *ram = &n->limits->ram;
	const struct vm_range *bank = ram->banks, *last = bank;

	for (uint32_t i = 0; i < ram->n; i++) {
		last = &ram->banks[i];
		if (bank->to <= base && i)
			bank = last;
	}
	if (base < bank->from)
		return vm_refuse(n, VM_REFUSED_MEMORY_RAM, "memory-at",
		                 "the memory at 0x%lx is no RAM that Tally uses, which %s at 0x%lx",
		                 base, bank == ram->banks ? "begins" : "goes on", bank->from);
	if (base >= bank->to)
		return vm_refuse(n, VM_REFUSED_MEMORY_RAM, "memory-at",
		                 "the memory at 0x%lx begins behind the end of RAM, 0x%lx", base,
		                 bank->to);
	if (size > bank->to - base)
		return vm_refuse(n, VM_REFUSED_MEMORY_RAM, "memory-at",
		                 "the memory at 0x%lx goes on behind %s0x%lx%s", base,
		                 bank == last ? "the end of RAM, " : "", bank->to,
		                 bank == last ? "" : ", where its bank of RAM ends");
	return true;
}

static bool check_piece(const struct vm_node *n, uint64_t base, uint64_t size)
{
	if (base % VM_MEMORY_STEP)
		return vm_refuse(n, VM_REFUSED_MEMORY, "memory-at",
		                 "0x%lx is not a multiple of 2 MiB", base);
	if (!size || size % VM_MEMORY_STEP)
		return vm_refuse(n, VM_REFUSED_MEMORY, "memory-at",
		                 "%lu bytes at 0x%lx are not a positive multiple of 2 MiB", size,
		                 base);
	return check_bank(n, base, size) && check_free(n, base, size);
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

static bool check_others(const struct vm_node *n, uint64_t base, uint64_t size)
{
	const char *owner = owner_of(n->tree, base, size);

	return !owner || vm_refuse(n, VM_REFUSED_OVERLAP, "memory-at",
	                           "the memory at 0x%lx overlaps that of %s", base, owner);
}

/* Inserts a piece in the order of addresses. Pieces that touch are joined, so that memory that is
 * contiguous for the VM is one piece. */
static bool add_piece(const struct vm_node *n, uint64_t base, uint64_t size)
{
	struct vm_config *vm = n->vm;
	struct vm_piece other = vm_piece_at(vm, base, size);
	uint32_t at = vm->n_pieces, last = 0;

	if (other.size)
		return vm_refuse(n, VM_REFUSED_OVERLAP, "memory-at",
		                 "the pieces at 0x%lx and 0x%lx overlap", other.guest, base);
	for (; at > 0 && vm->pieces[at - 1].base > base; at--)
		vm->pieces[at] = vm->pieces[at - 1];
	vm->pieces[at].base = base;
	vm->pieces[at].size = size;
	vm->memory += size;
	for (uint32_t i = 1; i <= vm->n_pieces; i++) {
		if (vm->pieces[last].base + vm->pieces[last].size == vm->pieces[i].base)
			vm->pieces[last].size += vm->pieces[i].size;
		else
			vm->pieces[++last] = vm->pieces[i];
	}
	vm->n_pieces = last + 1;
	return true;
}

static bool parse_pieces(const struct vm_node *n, const struct vm_prop *prop)
{
	const fdt64_t *cells = prop->data;
	uint32_t count = prop->size / 16;

	if (prop->size % 16)
		return vm_refuse(n, VM_REFUSED_SIZE, "memory-at",
		                 "is %u bytes long, not pairs of address and size, 16 bytes each",
		                 prop->size);
	if (!count)
		return vm_refuse(n, VM_REFUSED_MEMORY, "memory-at", "names no memory");
	if (count > VM_MAX_PIECES)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, "memory-at",
		                 "names %u pieces, more than %u", count, VM_MAX_PIECES);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t base = fdt64_ld(&cells[2UL * i]), size = fdt64_ld(&cells[2UL * i + 1]);

		if (!check_piece(n, base, size) || !check_others(n, base, size) ||
		    !add_piece(n, base, size))
			return false;
	}
	n->vm->ram_base = n->vm->host_base = n->vm->pieces[0].base;
	n->vm->first_size = n->vm->pieces[0].size;
	return true;
}

static bool parse_size(const struct vm_node *n, const struct vm_prop *prop)
{
	uint64_t size;

	if (!vm_require(n, prop) || !vm_read_u64(n, prop, &size))
		return false;
	if (!size || size % VM_MEMORY_STEP)
		return vm_refuse(n, VM_REFUSED_MEMORY, "memory",
		                 "%lu bytes is not a positive multiple of 2 MiB", size);
	if (n->vm->n_pieces && size != n->vm->memory)
		return vm_refuse(n, VM_REFUSED_MEMORY, "memory",
		                 "%lu bytes are not the %lu of memory-at", size, n->vm->memory);
	n->vm->memory = size;
	return true;
}

bool vm_parse_memory(const struct vm_node *n, const struct vm_prop *props)
{
	const struct vm_prop *size = &props[MEMORY_SIZE], *at = &props[MEMORY_AT];
	uint64_t all = vm_ranges_sum(n->limits->guests.ranges, n->limits->guests.n), taken = 0;
	struct vm_config *vm = n->vm;

	for (uint32_t i = 0; i < n->tree->n_vms; i++)
		taken += n->tree->vms[i].memory;
	if (at->data && !parse_pieces(n, at))
		return false;
	if ((!at->data || size->data) && !parse_size(n, size))
		return false;
	if (vm->memory > all - taken)
		return vm_refuse(n, VM_REFUSED_MEMORY_SUM, at->data ? at->name : size->name,
		                 "the VMs up to this one need %lu MiB, this machine has %lu MiB",
		                 (taken >> 20) + (vm->memory >> 20), all >> 20);
	if (!at->data) {
		vm->ram_base = VM_RAM_BASE;
		vm->first_size = vm->memory;
	}
	return true;
}

/* The memory of a VM with PCI functions is followed by a guard. Returns the name of a range that
 * lies in the guard of chosen memory, or NULL if the guard is free. */
static const char *behind(const struct vm_node *n, uint64_t end, uint64_t guard)
{
	const struct vm_limits *limits = n->limits;
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
	return owner_of(n->tree, end, guard);
}

bool vm_check_guards(const struct vm_node *n)
{
	uint64_t guard = vm_guard(n->vm);

	for (uint32_t k = 0; guard && k < n->vm->n_pieces; k++) {
		uint64_t end = n->vm->pieces[k].base + n->vm->pieces[k].size;
		const char *what = behind(n, end, guard);

		if (what)
			return vm_refuse(n, VM_REFUSED_OVERLAP, "memory-at",
			                 "%lu MiB behind 0x%lx have to be free, where %s is: the "
			                 "VM has PCI functions",
			                 guard >> 20, end, what);
	}
	return true;
}
