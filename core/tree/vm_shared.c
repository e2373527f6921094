/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/host_bridge.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_names.h"

#define PAGE UINT64_C(4096)

static const char *const shared_props[] = {"size"};

enum { USER_AT, USER_ACCESS, USER_BELL, USER_PROPS = USER_BELL + VM_BELL_PROPS };
static const char *const user_props[USER_PROPS] = {"at", "access", VM_BELL_PROP_NAMES};

/* The place of shared memory in a VM, while it is checked. */
struct place {
	const struct vm_node *n;
	uint64_t at, size;
};

static bool covers(const struct place *p, uint64_t base, uint64_t size)
{
	return vm_ranges_overlap(p->at, p->size, base, size);
}

static bool refuse(const struct place *p, enum vm_refusal_code code, const char *what,
                   uint64_t where)
{
	return vm_refuse(p->n, code, "at", "the memory at 0x%lx covers %s, at 0x%lx", p->at, what,
	                 where);
}

/* BARs get their addresses at boot, but always inside the windows of the host's bridge. */
static bool check_pci(const struct place *p)
{
	const void *host = p->n->limits->host_tree;
	struct host_bridge bridge;

	if (!vm_guard(p->n->vm)) /* it has no functions */
		return true;
	if (covers(p, GUEST_ECAM_BASE, GUEST_ECAM_SIZE))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own PCI bus", GUEST_ECAM_BASE);
	if (!host || host_bridge_find(host, &bridge))
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
	const struct vm_config *vm = p->n->vm;
	struct vm_piece piece = vm_piece_at(vm, p->at, p->size);
	uint64_t at;

	if (p->at % VM_MEMORY_STEP)
		return vm_refuse(p->n, VM_REFUSED_MEMORY, "at", "0x%lx is not a multiple of 2 MiB",
		                 p->at);
	if (p->at >= GUEST_ADDRESS_END || p->size > GUEST_ADDRESS_END - p->at)
		return vm_refuse(
		    p->n, VM_REFUSED_MEMORY_GUEST, "at",
		    "the memory at 0x%lx goes on behind all that a VM can address, 0x%lx", p->at,
		    GUEST_ADDRESS_END);
	if (piece.size)
		return refuse(p, VM_REFUSED_OVERLAP, "the VM's own memory", piece.guest);
	if (vm_covers_chip(vm, p->at, p->size, &at))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own interrupt controller", at);
	if (vm->console && covers(p, GUEST_UART_BASE, GUEST_UART_SIZE))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own UART", GUEST_UART_BASE);
	if (vm->virt && covers(p, GUEST_SLOT_BASE, GUEST_SLOTS * GUEST_SLOT_STEP))
		return refuse(p, VM_REFUSED_MEMORY_GUEST, "the VM's own virtio slots",
		              GUEST_SLOT_BASE);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		at = vm->shared[i].at;

		if (covers(p, at, p->n->tree->shared[vm->shared[i].number].size))
			return refuse(p, VM_REFUSED_OVERLAP, "other shared memory", at);
	}
	if (!check_pci(p))
		return false;
	return !vm_device_at(vm, p->at, p->size, &at) ||
	       refuse(p, VM_REFUSED_REGISTERS, "registers of a device of the VM", at);
}

/* A VM can use read-only memory as a page table, in which some harts set A and D. */
static bool check_read_only(const struct vm_node *n)
{
	for (uint32_t hart = 0; hart < n->limits->harts.n; hart++) {
		if (n->limits->ad_ignores_gstage >> hart & 1 && vm_vcpus_on(n->vm, hart))
			return vm_refuse(n, VM_REFUSED_READ_ONLY, "access",
			                 "the VM could change what it may only read: hart %u sets "
			                 "A and D in page tables there, even without Svadu",
			                 n->limits->harts.ids[hart]);
	}
	return true;
}

static bool parse_user(struct vm_node *n, bool *written)
{
	struct vm_tree *tree = n->tree;
	uint32_t number = tree->n_shared;
	uint32_t which = vm_named(tree, fdt_get_name(n->blob, n->at, NULL));
	struct vm_config *vm = &tree->vms[which];
	struct vm_prop props[USER_PROPS];
	struct place place = {n, 0, tree->shared[number].size};
	bool writes = false;

	n->vm = vm;
	if (which == tree->n_vms)
		return vm_refuse(n, VM_REFUSED_NO_VM, "", "no VM has this name");
	if (vm->n_shared && vm->shared[vm->n_shared - 1].number == number)
		return vm_refuse(n, VM_REFUSED_DUPLICATE, "", "is there twice");
	if (!vm_read_props(n, user_props, USER_PROPS, props) || !vm_refuse_children(n) ||
	    !vm_require(n, &props[USER_AT]) || !vm_read_u64(n, &props[USER_AT], &place.at) ||
	    !vm_read_choice(n, &props[USER_ACCESS], "read", "read-write", &writes) ||
	    !check_place(&place) || (!writes && !check_read_only(n)))
		return false;
	vm->shared[vm->n_shared].at = place.at;
	vm->shared[vm->n_shared].number = number;
	vm->shared[vm->n_shared++].writes = writes;
	*written |= writes;
	return vm_parse_bell(n, &props[USER_BELL]);
}

static bool parse_name(const struct vm_node *n)
{
	const char *name = fdt_get_name(n->blob, n->at, NULL);
	struct vm_tree *tree = n->tree;

	if (!vm_check_name(n, "shared memory", VM_NAME_MAX))
		return false;
	for (uint32_t i = 0; i < tree->n_shared; i++) {
		if (strcmp(tree->shared[i].name, name) == 0)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "",
			                 "two shared memories have this name");
	}
	memcpy(tree->shared[tree->n_shared].name, name, strlen(name));
	return true;
}

static bool parse_size(const struct vm_node *n, const struct vm_prop *prop)
{
	uint64_t all = vm_ranges_sum(n->limits->guests.ranges, n->limits->guests.n), taken = 0,
	         size;
	struct vm_tree *tree = n->tree;

	if (!vm_require(n, prop) || !vm_read_u64(n, prop, &size))
		return false;
	if (!size || size % PAGE)
		return vm_refuse(n, VM_REFUSED_MEMORY, prop->name,
		                 "%lu bytes is not a positive multiple of 4 KiB", size);
	for (uint32_t i = 0; i < tree->n_vms; i++)
		taken += tree->vms[i].memory;
	for (uint32_t i = 0; i < tree->n_shared; i++)
		taken += vm_shared_room(&tree->shared[i]);
	/* This cannot wrap: `all` and `taken` are multiples of the step. */
	if (taken > all || size > all - taken)
		return vm_refuse(n, VM_REFUSED_MEMORY_SUM, prop->name,
		                 "all VMs and shared memory up to this one need %lu KiB, this "
		                 "machine has %lu",
		                 (taken >> 10) + (size >> 10), all >> 10);
	tree->shared[tree->n_shared].size = size;
	return true;
}

static bool parse_one(const struct vm_node *n)
{
	struct vm_prop size;
	struct vm_node child = vm_node_at(n, -1);
	bool written = false;

	if (!vm_has_room(n, "shared memory", n->tree->n_shared, VM_MAX_SHARED) || !parse_name(n) ||
	    !vm_read_props(n, shared_props, 1, &size) || !parse_size(n, &size))
		return false;
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (!parse_user(&child, &written))
			return false;
	}
	if (!written)
		return vm_refuse(n, VM_REFUSED_NO_WRITER, "",
		                 "no VM may write it: one needs access = \"read-write\"");
	n->tree->n_shared++;
	return true;
}

bool vm_parse_shared(const struct vm_node *n)
{
	return vm_parse_children(n, parse_one);
}
