/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_shared.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/host_bridge.h"
#include "core/tree/vm_aia.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_memory_config.h"
#include "core/tree/vm_names.h"

#define PAGE UINT64_C(4096)

typedef unsigned long long ull;

enum { SHARED_SIZE, SHARED_PROPS };
static const char *const shared_props[SHARED_PROPS] = {"size"};

enum { USER_AT, USER_ACCESS, USER_BELL, USER_PROPS = USER_BELL + VM_BELL_PROPS };
static const char *const user_props[USER_PROPS] = {"at", "access", VM_BELL_PROP_NAMES};

/* The place of shared memory in a VM, while it is checked. */
struct place {
	const struct vm_blob *b;
	int node;
	const struct vm_limits *limits;
	const struct vm_tree *tree;
	const struct vm_config *vm;
	uint64_t at, size;
};

static bool covers(const struct place *p, uint64_t base, uint64_t size)
{
	return vm_ranges_overlap(p->at, p->size, base, size);
}

static bool refuse(const struct place *p, enum vm_refusal_code code, const char *what,
                   uint64_t where)
{
	return vm_refuse_text(p->b, code, p->node, "at",
	                      "the memory at 0x%llx covers %s, at 0x%llx", (ull)p->at, what,
	                      (ull)where);
}

/* BARs get their addresses at boot, but always inside the windows of the host's bridge. */
static bool check_pci(const struct place *p)
{
	struct host_bridge bridge;

	if (!vm_guard(p->vm)) /* it has no functions */
		return true;
	if (covers(p, GUEST_ECAM_BASE, GUEST_ECAM_SIZE))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own PCI bus", GUEST_ECAM_BASE);
	if (!p->limits->host_tree || host_bridge_find(p->limits->host_tree, &bridge))
		return true;
	for (uint32_t i = 0; i < bridge.n_windows; i++) {
		if (covers(p, bridge.windows[i].base, bridge.windows[i].size))
			return refuse(p, VM_REFUSED_REGISTERS, "a window of the PCI bus",
			              bridge.windows[i].base);
	}
	return true;
}

/* Refuses a place that covers something else of the VM. */
static bool check_place(const struct place *p)
{
	struct vm_piece piece = vm_piece_at(p->vm, p->at, p->size);
	uint64_t at;

	if (p->at % VM_MEMORY_STEP)
		return vm_refuse_text(p->b, VM_REFUSED_MEMORY, p->node, "at",
		                      "0x%llx is not a multiple of 2 MiB", (ull)p->at);
	if (p->at >= GUEST_ADDRESS_END || p->size > GUEST_ADDRESS_END - p->at)
		return vm_refuse_text(p->b, VM_REFUSED_MEMORY_GUEST, p->node, "at",
		                      "the memory at 0x%llx goes on behind all that a VM can "
		                      "address, 0x%llx",
		                      (ull)p->at, (ull)GUEST_ADDRESS_END);
	if (piece.size)
		return refuse(p, VM_REFUSED_OVERLAP, "the VM's own memory", piece.guest);
	if (vm_covers_chip(p->vm, p->at, p->size, &at))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own interrupt controller", at);
	if (p->vm->console && covers(p, GUEST_UART_BASE, GUEST_UART_SIZE))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own UART", GUEST_UART_BASE);
	for (uint32_t i = 0; i < p->vm->n_shared; i++) {
		at = p->vm->shared[i].at;

		if (covers(p, at, p->tree->shared[p->vm->shared[i].number].size))
			return refuse(p, VM_REFUSED_OVERLAP, "other shared memory", at);
	}
	if (!check_pci(p))
		return false;
	return !vm_device_at(p->vm, p->at, p->size, &at) ||
	       refuse(p, VM_REFUSED_REGISTERS, "registers of a device of the VM", at);
}

/* A VM can use read-only memory as a page table, in which some harts set A and D. */
static bool check_read_only(const struct place *p)
{
	for (uint32_t hart = 0; hart < p->limits->harts.n; hart++) {
		if (p->limits->ad_ignores_gstage >> hart & 1 && vm_vcpus_on(p->vm, hart))
			return vm_refuse_numbers(
			    p->b, VM_REFUSED_READ_ONLY, p->node, "access",
			    "the VM could change what it may only read: hart # sets A and D in "
			    "page tables there, even without Svadu",
			    p->limits->harts.ids[hart], 0);
	}
	return true;
}

static bool parse_user(const struct vm_blob *b, int node, const struct vm_limits *limits,
                       struct vm_tree *tree, bool *writes)
{
	uint32_t number = tree->n_shared;
	uint32_t which = vm_named(tree, fdt_get_name(b->blob, node, NULL));
	struct vm_config *vm = &tree->vms[which];
	struct vm_prop props[USER_PROPS];
	struct place place = {b, node, limits, tree, vm, 0, tree->shared[number].size};

	*writes = false;
	if (which == tree->n_vms)
		return vm_refuse(b, VM_REFUSED_NO_VM, node, "", "no VM has this name");
	if (vm->n_shared && vm->shared[vm->n_shared - 1].number == number)
		return vm_refuse(b, VM_REFUSED_DUPLICATE, node, "", "is there twice");
	if (!vm_read_props(b, node, user_props, USER_PROPS, props) ||
	    !vm_refuse_children(b, node) || !vm_require(b, node, &props[USER_AT]) ||
	    !vm_read_u64(b, node, &props[USER_AT], &place.at) ||
	    !vm_read_choice(b, node, &props[USER_ACCESS], "read", "read-write", writes) ||
	    !check_place(&place) || (!*writes && !check_read_only(&place)))
		return false;
	vm->shared[vm->n_shared].at = place.at;
	vm->shared[vm->n_shared].number = number;
	vm->shared[vm->n_shared++].writes = *writes;
	return vm_parse_bell(b, node, &props[USER_BELL], place.size, vm);
}

static bool parse_name(const struct vm_blob *b, int node, struct vm_tree *tree)
{
	const char *name = fdt_get_name(b->blob, node, NULL);

	if (!vm_check_name(b, node, "shared memory", VM_NAME_MAX))
		return false;
	for (uint32_t i = 0; i < tree->n_shared; i++) {
		if (strcmp(tree->shared[i].name, name) == 0)
			return vm_refuse(b, VM_REFUSED_DUPLICATE, node, "",
			                 "two shared memories have this name");
	}
	memcpy(tree->shared[tree->n_shared].name, name, strlen(name));
	return true;
}

static bool parse_size(const struct vm_blob *b, int node, const struct vm_prop *prop,
                       const struct vm_limits *limits, struct vm_tree *tree)
{
	uint64_t all = vm_guest_sum(&limits->guests), taken = 0, size;

	if (!vm_require(b, node, prop) || !vm_read_u64(b, node, prop, &size))
		return false;
	if (!size || size % PAGE)
		return vm_refuse_numbers(b, VM_REFUSED_MEMORY, node, prop->name,
		                         "# bytes is not a positive multiple of 4 KiB", size, 0);
	for (uint32_t i = 0; i < tree->n_vms; i++)
		taken += tree->vms[i].memory;
	for (uint32_t i = 0; i < tree->n_shared; i++)
		taken += vm_shared_room(&tree->shared[i]);
	/* This cannot wrap: `all` and `taken` are multiples of the step. */
	if (taken > all || size > all - taken)
		return vm_refuse_numbers(
		    b, VM_REFUSED_MEMORY_SUM, node, prop->name,
		    "all VMs and shared memory up to this one need # KiB, this machine has #",
		    (taken >> 10) + (size >> 10), all >> 10);
	tree->shared[tree->n_shared].size = size;
	return true;
}

static bool parse_one(const struct vm_blob *b, int node, const struct vm_limits *limits,
                      struct vm_tree *tree)
{
	struct vm_prop props[SHARED_PROPS];
	bool written = false, writes;
	int child;

	if (!parse_name(b, node, tree) ||
	    !vm_read_props(b, node, shared_props, SHARED_PROPS, props) ||
	    !parse_size(b, node, &props[SHARED_SIZE], limits, tree))
		return false;
	fdt_for_each_subnode(child, b->blob, node)
	{
		if (!parse_user(b, child, limits, tree, &writes))
			return false;
		written |= writes;
	}
	if (!written)
		return vm_refuse(b, VM_REFUSED_NO_WRITER, node, "",
		                 "no VM may write it: one needs access = \"read-write\"");
	tree->n_shared++;
	return true;
}

bool vm_parse_shared(const struct vm_blob *b, int node, const struct vm_limits *limits,
                     struct vm_tree *tree)
{
	int child;

	if (!vm_read_props(b, node, NULL, 0, NULL))
		return false;
	fdt_for_each_subnode(child, b->blob, node)
	{
		if (tree->n_shared == VM_MAX_SHARED)
			return vm_refuse_numbers(b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one shared memory more than #", VM_MAX_SHARED,
			                         0);
		if (!parse_one(b, child, limits, tree))
			return false;
	}
	return true;
}

bool vm_check_shared_room(const struct vm_blob *b, int node, const struct vm_limits *limits,
                          struct vm_tree *tree)
{
	uint32_t which;
	uint64_t largest;

	if (vm_place_shared(tree, limits, &which, &largest))
		return true;
	return vm_refuse_room(b, fdt_subnode_offset(b->blob, node, tree->shared[which].name),
	                      "size", limits, vm_shared_room(&tree->shared[which]), largest);
}
