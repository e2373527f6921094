/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include "core/host/host_bridge.h"
#include "core/tree/vm_memory.h"

/* Of a bus with bells, with a power key, with ports, and with an operator's function. */
#define BELL_BUS_SIZE     (GUEST_ECAM_SIZE + GUEST_BELL_SIZE)
#define KEY_BUS_SIZE      (GUEST_KEY_BASE + GUEST_KEY_SIZE - GUEST_ECAM_BASE)
#define PORT_BUS_SIZE     (GUEST_PORT_BASE + GUEST_PORT_SIZE - GUEST_ECAM_BASE)
#define OPERATOR_BUS_SIZE (GUEST_OPERATOR_MEMORY + GUEST_OPERATOR_BYTES - GUEST_ECAM_BASE)
#define IDENTITIES        63U /* of each interrupt file */

/* The size of a BAR is a power of two, and its address a multiple of it. */
static bool check_memory(const struct vm_node *n, uint64_t at, uint64_t size)
{
	if (size & (size - 1))
		return vm_refuse(n, VM_REFUSED_BELL, "bell",
		                 "the memory is a BAR of its bell: 0x%lx bytes are no power of two",
		                 size);
	return !(at & (size - 1)) || vm_refuse(n, VM_REFUSED_BELL, "bell",
	                                       "the memory is a BAR of its bell: 0x%lx is not a "
	                                       "multiple of its size",
	                                       at);
}

bool vm_check_source(const struct vm_node *n, const char *property, uint32_t source)
{
	return (source && source <= GUEST_PLIC_SOURCES) ||
	       vm_refuse(n, VM_REFUSED_VALUE, property,
	                 "%u is no source of the VM's interrupt controller, which are 1 to %u",
	                 source, GUEST_PLIC_SOURCES);
}

bool vm_check_identity(const struct vm_node *n, const char *property, uint32_t identity)
{
	if (!n->vm->aia)
		return vm_refuse(n, VM_REFUSED_INTERRUPT, property,
		                 "is one of an interrupt file, which the VM has with interrupts = "
		                 "\"aia\"");
	return (identity && identity <= IDENTITIES) ||
	       vm_refuse(n, VM_REFUSED_VALUE, property,
	                 "%u is no identity that each interrupt file has: these are 1 to %u",
	                 identity, IDENTITIES);
}

bool vm_check_unused(const struct vm_node *n, const char *const properties[2], const char *bell,
                     uint32_t source, uint32_t identity)
{
	const struct vm_config *vm = n->vm;
	const struct vm_device *device = source ? vm_device_of_irq(vm, source) : NULL;

	if (source == GUEST_UART_IRQ && vm->console)
		return vm_refuse(n, VM_REFUSED_INTERRUPT, properties[0],
		                 "source %u is that of the VM's UART", source);
	if (device)
		return vm_refuse(n, VM_REFUSED_INTERRUPT, properties[0],
		                 "source %u is that of the VM's device %s", source, device->name);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (source && vm->shared[i].bell == source)
			return vm_refuse(n, VM_REFUSED_INTERRUPT, properties[0],
			                 "source %u is that of %s of the VM", source, bell);
		if (identity && vm->shared[i].identity == identity)
			return vm_refuse(n, VM_REFUSED_INTERRUPT, properties[1],
			                 "%u is that of %s of the VM", identity, bell);
	}
	return true;
}

bool vm_parse_bell(const struct vm_node *n, const struct vm_prop *props)
{
	static const char *const names[] = {VM_BELL_PROP_NAMES};
	uint32_t last = n->vm->n_shared - 1, number = n->vm->shared[last].number;
	uint32_t source = 0, identity = 0;
	const struct vm_prop *bell = &props[VM_BELL_SOURCE], *id = &props[VM_BELL_IDENTITY];

	if (bell->data &&
	    (!vm_read_u32(n, bell, &source) || !vm_check_source(n, names[0], source) ||
	     !vm_check_unused(n, names, "another bell", source, 0) ||
	     !check_memory(n, n->vm->shared[last].at, n->tree->shared[number].size)))
		return false;
	if (!vm_read_u32(n, id, &identity))
		return false;
	if (id->data && !bell->data)
		return vm_refuse(n, VM_REFUSED_MISSING_PROPERTY, names[1],
		                 "is that of a bell, and there is no property bell");
	if (id->data && (!vm_check_identity(n, names[1], identity) ||
	                 !vm_check_unused(n, names, "another bell", 0, identity)))
		return false;
	n->vm->shared[last].bell = source;
	n->vm->shared[last].identity = identity;
	return true;
}

/* What is on the bus of the VM of node n: a bell, a power key, ports, or an operator. */
struct on_bus {
	const struct vm_node *n;
	const char *property;
	uint64_t size; /* of the bus */
};

static bool is_on_bus(const struct on_bus *c, uint64_t base, uint64_t size)
{
	return vm_ranges_overlap(base, size, GUEST_ECAM_BASE, c->size);
}

static bool refuse_bus(const struct on_bus *c, const char *what, uint64_t base)
{
	return vm_refuse(c->n, VM_REFUSED_MEMORY_GUEST, c->property,
	                 "%s at 0x%lx are where the VM's PCI bus would be, at 0x%lx", what, base,
	                 GUEST_ECAM_BASE);
}

/* The bus's addresses must be free. */
static bool check_bus(const struct on_bus *c)
{
	const struct vm_config *vm = c->n->vm;
	const void *host = c->n->limits->host_tree;
	struct vm_piece piece = vm_piece_at(vm, GUEST_ECAM_BASE, c->size);
	struct host_bridge bridge;
	uint64_t at;

	if (piece.size)
		return refuse_bus(c, "the VM's memory", piece.guest);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		at = vm->shared[i].at;
		if (is_on_bus(c, at, c->n->tree->shared[vm->shared[i].number].size))
			return refuse_bus(c, "shared memory", at);
	}
	if (vm_device_at(vm, GUEST_ECAM_BASE, c->size, &at))
		return refuse_bus(c, "registers of a device", at);
	/* A VM without functions has no windows of the host's bus. */
	if (!host || !vm_guard(vm) || host_bridge_find(host, &bridge))
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

bool vm_check_operator_bus(const struct vm_node *n, const char *property)
{
	return check_bus(&(struct on_bus){n, property, OPERATOR_BUS_SIZE});
}

bool vm_check_key_bus(const struct vm_node *n, const char *property)
{
	return check_bus(&(struct on_bus){n, property, KEY_BUS_SIZE});
}

bool vm_check_port_bus(const struct vm_node *n)
{
	return check_bus(&(struct on_bus){n, "", PORT_BUS_SIZE});
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

/* Checks a bell of the VM, the all-th of the tree: n is the VM's node below that of the memory. */
static bool check_one(const struct vm_node *n, uint32_t number, uint32_t all)
{
	if (all > VM_MAX_BELLS)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, "bell", "is one bell more than %u",
		                 VM_MAX_BELLS);
	if (bells_at(n->tree, number) < 2)
		return vm_refuse(n, VM_REFUSED_BELL, "bell",
		                 "no other VM has a bell there, so nobody would ring this one");
	return check_bus(&(struct on_bus){n, "bell", BELL_BUS_SIZE});
}

bool vm_check_bells(const struct vm_node *n)
{
	struct vm_tree *tree = n->tree;
	uint32_t all = 0;

	for (struct vm_config *vm = tree->vms; vm < tree->vms + tree->n_vms; vm++) {
		for (uint32_t k = 0; k < vm->n_shared; k++) {
			uint32_t number = vm->shared[k].number;
			struct vm_node memory = vm_child(n, tree->shared[number].name);
			struct vm_node user = vm_child(&memory, vm->name);

			user.vm = vm;
			if (vm->shared[k].bell && !check_one(&user, number, ++all))
				return false;
		}
	}
	return true;
}
