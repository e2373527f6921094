/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>
#include <string.h>

#include "core/tree/vm_machine.h"
#include "core/tree/vm_names.h"

#define LOCAL UINT64_C(0x02) /* bits of a MAC's first byte */
#define GROUP UINT64_C(0x01)

enum { PORT_MAC, PORT_UPLINK, PORT_FRAMES, PORT_BYTES, PORT_PROPS };
static const char *const port_props[PORT_PROPS] = {"mac-address", "uplink", "frames-per-ms",
                                                   "bytes-per-ms"};

/* FNV-1a, including the NUL behind the text. */
static uint64_t hash(uint64_t so_far, const char *text)
{
	do
		so_far = (so_far ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return so_far;
}

/* A MAC that follows from both names: locally administered, and of one station. */
static void derive_mac(const char *network, const char *vm, uint8_t mac[VM_MAC_BYTES])
{
	uint64_t all = hash(hash(UINT64_C(0xcbf29ce484222325), network), vm);

	all ^= all >> 48;
	all = (all & ~GROUP) | LOCAL;
	for (uint32_t i = 0; i < VM_MAC_BYTES; i++)
		mac[i] = (uint8_t)(all >> 8 * i);
}

static bool parse_mac(const struct vm_node *n, const struct vm_prop *prop, struct vm_port *port)
{
	static const uint8_t none[VM_MAC_BYTES];

	if (!prop->data) {
		derive_mac(n->tree->networks[port->network].name, n->vm->name, port->mac);
		return true;
	}
	if (prop->size != VM_MAC_BYTES)
		return vm_refuse(n, VM_REFUSED_SIZE, prop->name, "is %u bytes long, not %u",
		                 prop->size, VM_MAC_BYTES);
	memcpy(port->mac, prop->data, VM_MAC_BYTES);
	return (!(port->mac[0] & GROUP) && memcmp(port->mac, none, VM_MAC_BYTES) != 0) ||
	       vm_refuse(n, VM_REFUSED_VALUE, prop->name, "is no address of one station");
}

static bool parse_limit(const struct vm_node *n, const struct vm_prop *prop, uint32_t least,
                        uint32_t most, uint32_t *limit)
{
	if (!vm_read_u32(n, prop, limit))
		return false;
	return !prop->data || (*limit >= least && *limit <= most) ||
	       vm_refuse(n, VM_REFUSED_VALUE, prop->name, "%u is not %u to %u", *limit, least,
	                 most);
}

/* Checks the port against those that VMs have on its network so far. */
static bool check_others(const struct vm_node *n, const struct vm_port *port)
{
	const struct vm_tree *tree = n->tree;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];
		const struct vm_port *other = vm->ports;

		/* Its last port is the one of this network, if it has one. */
		if (!vm->n_ports)
			continue;
		other += vm->n_ports - 1;
		if (other->network != port->network)
			continue;
		if (vm == n->vm)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "", "is there twice");
		if (memcmp(other->mac, port->mac, VM_MAC_BYTES) == 0)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "mac-address",
			                 "is that of VM %s on this network", vm->name);
		if (other->uplink && port->uplink)
			return vm_refuse(n, VM_REFUSED_NETWORK, "uplink",
			                 "VM %s has the uplink of this network", vm->name);
	}
	return true;
}

static bool parse_port(struct vm_node *n)
{
	struct vm_tree *tree = n->tree;
	uint32_t which = vm_named(tree, fdt_get_name(n->blob, n->at, NULL));
	struct vm_config *vm = &tree->vms[which];
	struct vm_prop props[PORT_PROPS];
	struct vm_port port = {.network = tree->n_networks};

	n->vm = vm;
	if (which == tree->n_vms)
		return vm_refuse(n, VM_REFUSED_NO_VM, "", "no VM has this name");
	if (!vm_read_props(n, port_props, PORT_PROPS, props) || !vm_refuse_children(n) ||
	    !parse_mac(n, &props[PORT_MAC], &port) ||
	    !vm_read_on(n, &props[PORT_UPLINK], &port.uplink) ||
	    !parse_limit(n, &props[PORT_FRAMES], 1, VM_MAX_PORT_FRAMES, &port.frames_per_ms) ||
	    !parse_limit(n, &props[PORT_BYTES],
	                 tree->networks[port.network].offload ? VM_MIN_LARGE_BYTES
	                                                      : VM_MIN_PORT_BYTES,
	                 VM_MAX_PORT_BYTES, &port.bytes_per_ms) ||
	    !check_others(n, &port))
		return false;
	if (vm->n_ports == VM_MAX_PORTS)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, "", "is one port more than %u of the VM",
		                 VM_MAX_PORTS);
	vm->ports[vm->n_ports++] = port;
	return true;
}

static bool parse_name(const struct vm_node *n, struct vm_network *network)
{
	const char *name = fdt_get_name(n->blob, n->at, NULL);

	if (!vm_check_name(n, "a network", VM_NAME_MAX))
		return false;
	for (const struct vm_network *other = n->tree->networks; other < network; other++) {
		if (strcmp(other->name, name) == 0)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "",
			                 "two networks have this name");
	}
	memcpy(network->name, name, strlen(name));
	return true;
}

static bool parse_one(const struct vm_node *n)
{
	static const char *const names[] = {"offload"};
	struct vm_node child = vm_node_at(n, -1);
	struct vm_prop offload;
	struct vm_network *network = &n->tree->networks[n->tree->n_networks];
	uint32_t ports = 0;

	if (!vm_has_room(n, "network", n->tree->n_networks, VM_MAX_NETWORKS) ||
	    !parse_name(n, network) || !vm_read_props(n, names, 1, &offload) ||
	    !vm_read_on(n, &offload, &network->offload))
		return false;
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (!parse_port(&child))
			return false;
		ports++;
	}
	if (ports < 2)
		return vm_refuse(n, VM_REFUSED_NETWORK, "",
		                 "%s of it: a network connects two VMs at least",
		                 ports ? "one VM has a port" : "no VM has a port");
	n->tree->n_networks++;
	return true;
}

bool vm_parse_networks(const struct vm_node *n)
{
	return vm_parse_children(n, parse_one);
}

/* Returns the source of the lowest slot that is empty, and whose source is free. 0: there is none.
 */
static uint32_t free_slot(const struct vm_config *vm)
{
	uint32_t empty = vm_empty_slots(vm);

	for (uint32_t i = 0; i < GUEST_SLOTS; i++) {
		if (empty >> i & 1 && !vm_has_irq(vm, i + 1))
			return i + 1;
	}
	return 0;
}

bool vm_check_ports(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;

	for (uint32_t i = 0; i < vm->n_ports; i++) {
		vm->ports[i].source = vm->virt ? free_slot(vm) : vm_highest_irq(vm);
		if (!vm->ports[i].source)
			return vm_refuse(n, VM_REFUSED_INTERRUPT, "",
			                 "no %s is left for its port of network %s",
			                 vm->virt ? "virtio-mmio slot of the VM"
			                          : "source of the VM's interrupt controller",
			                 n->tree->networks[vm->ports[i].network].name);
	}
	return !vm_pci_ports(vm) || vm_check_port_bus(n);
}
