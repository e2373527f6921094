/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_shared.h"

#include <libfdt.h>

#include "core/host/host_bridge.h"
#include "core/tree/vm_devices.h"
#include "core/tree/vm_memory.h"

/* Of a bus with bells, and of one with an operator's function. */
#define BELL_BUS_SIZE     (GUEST_ECAM_SIZE + GUEST_BELL_SIZE)
#define OPERATOR_BUS_SIZE (GUEST_OPERATOR_MEMORY + GUEST_OPERATOR_BYTES - GUEST_ECAM_BASE)
#define IDENTITIES        63U /* of each interrupt file */

typedef unsigned long long ull;

/* The size of a BAR is a power of two, and its address a multiple of it. */
static bool check_memory(const struct vm_blob *b, int node, uint64_t at, uint64_t size)
{
	if (size & (size - 1))
		return vm_refuse_text(b, VM_REFUSED_BELL, node, "bell",
		                      "the memory is a BAR of its bell: 0x%llx bytes are no power "
		                      "of two",
		                      (ull)size);
	if (at & (size - 1))
		return vm_refuse_text(
		    b, VM_REFUSED_BELL, node, "bell",
		    "the memory is a BAR of its bell: 0x%llx is not a multiple of "
		    "its size",
		    (ull)at);
	return true;
}

static bool check_source(const struct vm_blob *b, int node, const struct vm_config *vm,
                         uint32_t source)
{
	const struct vm_device *device = vm_device_of_irq(vm, source);

	if (!source || source > GUEST_PLIC_SOURCES)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, "bell",
		                         "# is no source of the VM's interrupt controller, which "
		                         "are 1 to #",
		                         source, GUEST_PLIC_SOURCES);
	if (source == GUEST_UART_IRQ && vm->console)
		return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node, "bell",
		                         "source # is that of the VM's UART", source, 0);
	if (device)
		return vm_refuse_text(b, VM_REFUSED_INTERRUPT, node, "bell",
		                      "source %u is that of the VM's device %s", source,
		                      device->name);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell == source)
			return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node, "bell",
			                         "source # is that of another bell of the VM",
			                         source, 0);
	}
	return true;
}

static bool check_identity(const struct vm_blob *b, int node, const struct vm_config *vm,
                           bool has_bell, uint32_t identity)
{
	if (!has_bell)
		return vm_refuse(b, VM_REFUSED_MISSING_PROPERTY, node, "bell-identity",
		                 "is that of a bell, and there is no property bell");
	if (!vm->aia)
		return vm_refuse(b, VM_REFUSED_INTERRUPT, node, "bell-identity",
		                 "is one of an interrupt file, which the VM has with interrupts = "
		                 "\"aia\"");
	if (!identity || identity > IDENTITIES)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, "bell-identity",
		                         "# is no identity that each interrupt file has: these are "
		                         "1 to #",
		                         identity, IDENTITIES);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].identity == identity)
			return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node, "bell-identity",
			                         "# is that of another bell of the VM", identity,
			                         0);
	}
	return true;
}

bool vm_parse_bell(const struct vm_blob *b, int node, const struct vm_prop *props, uint64_t size,
                   struct vm_config *vm)
{
	uint32_t last = vm->n_shared - 1, source = 0, identity = 0;
	const struct vm_prop *bell = &props[VM_BELL_SOURCE], *id = &props[VM_BELL_IDENTITY];

	if (bell->data &&
	    (!vm_read_u32(b, node, bell, &source) || !check_source(b, node, vm, source) ||
	     !check_memory(b, node, vm->shared[last].at, size)))
		return false;
	if (id->data && (!vm_read_u32(b, node, id, &identity) ||
	                 !check_identity(b, node, vm, bell->data, identity)))
		return false;
	vm->shared[last].bell = source;
	vm->shared[last].identity = identity;
	return true;
}

/* The bell being checked: the VM's node below the node of the memory. Or an operator: its own
 * node. */
struct checked {
	const struct vm_blob *b;
	int node;
	const struct vm_config *vm;
	const char *property;
	uint64_t bus_size;
};

static bool is_on_bus(const struct checked *c, uint64_t base, uint64_t size)
{
	return vm_ranges_overlap(base, size, GUEST_ECAM_BASE, c->bus_size);
}

static bool refuse_bus(const struct checked *c, const char *what, uint64_t base)
{
	return vm_refuse_text(c->b, VM_REFUSED_MEMORY_GUEST, c->node, c->property,
	                      "%s at 0x%llx are where the VM's PCI bus would be, at 0x%llx", what,
	                      (ull)base, (ull)GUEST_ECAM_BASE);
}

/* It is on the VM's PCI bus, whose addresses must be free. */
static bool check_bus(const struct checked *c, const struct vm_limits *limits,
                      const struct vm_tree *tree)
{
	const struct vm_config *vm = c->vm;
	struct vm_piece piece = vm_piece_at(vm, GUEST_ECAM_BASE, c->bus_size);
	struct host_bridge bridge;
	uint64_t at;

	if (piece.size)
		return refuse_bus(c, "the VM's memory", piece.guest);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		at = vm->shared[i].at;
		if (is_on_bus(c, at, tree->shared[vm->shared[i].number].size))
			return refuse_bus(c, "shared memory", at);
	}
	if (vm_device_at(vm, GUEST_ECAM_BASE, c->bus_size, &at))
		return refuse_bus(c, "registers of a device", at);
	/* A VM without functions has no windows of the host's bus. */
	if (!limits->host_tree || !vm_guard(vm) || host_bridge_find(limits->host_tree, &bridge))
		return true;
	for (uint32_t i = 0; i < bridge.n_windows; i++) {
		const struct bridge_window *w = &bridge.windows[i];

		if (is_on_bus(c, w->base, w->size))
			return refuse_bus(c, "windows of the host's PCI bus", w->base);
		if (is_on_bus(c, w->bus, w->size))
			return refuse_bus(c, "addresses of the host's PCI bus", w->bus);
	}
	return true;
}

static uint32_t bells_at(const struct vm_tree *tree, uint32_t number)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		for (uint32_t k = 0; k < tree->vms[i].n_shared; k++)
			n += tree->vms[i].shared[k].number == number && tree->vms[i].shared[k].bell;
	}
	return n;
}

static bool check_one(const struct checked *c, const struct vm_limits *limits,
                      const struct vm_tree *tree, uint32_t number, uint32_t all)
{
	if (all > VM_MAX_BELLS)
		return vm_refuse_numbers(c->b, VM_REFUSED_TOO_MANY, c->node, "bell",
		                         "is one bell more than #", VM_MAX_BELLS, 0);
	if (bells_at(tree, number) < 2)
		return vm_refuse(c->b, VM_REFUSED_BELL, c->node, "bell",
		                 "no other VM has a bell there, so nobody would ring this one");
	return check_bus(c, limits, tree);
}

bool vm_check_bells(const struct vm_blob *b, int shared, const struct vm_limits *limits,
                    const struct vm_tree *tree)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		for (uint32_t k = 0; k < vm->n_shared; k++) {
			uint32_t number = vm->shared[k].number;
			int memory = fdt_subnode_offset(b->blob, shared, tree->shared[number].name);
			struct checked c = {b, fdt_subnode_offset(b->blob, memory, vm->name), vm,
			                    "bell", BELL_BUS_SIZE};

			if (vm->shared[k].bell && !check_one(&c, limits, tree, number, ++all))
				return false;
		}
	}
	return true;
}

bool vm_check_bus(const struct vm_blob *b, int node, const char *property,
                  const struct vm_limits *limits, const struct vm_tree *tree,
                  const struct vm_config *vm)
{
	struct checked c = {b, node, vm, property, OPERATOR_BUS_SIZE};

	return check_bus(&c, limits, tree);
}
