/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_parents.h"

#include <libfdt.h>
#include <string.h>

static const char *name_of(const struct host_place *place, int depth)
{
	const char *name = fdt_get_name(place->tree, place->node[depth], NULL);

	return name ? name : "?";
}

/* Returns the length of a node's name before its unit address. */
static size_t base_length(const char *name)
{
	const char *at = strchr(name, '@');

	return at ? (size_t)(at - name) : strlen(name);
}

/* libfdt takes the first node that fits a name without a unit address. If another node fits as
 * well, the name is refused as ambiguous. */
static bool check_name(const struct vm_node *n, const struct host_place *place, const char *path)
{
	const char *last = strrchr(path, '/'), *own = name_of(place, place->depth), *name;
	int other;

	if (path[0] != '/' || !last[1] || strchr(last, '@') || !strchr(own, '@'))
		return true;
	fdt_for_each_subnode(other, place->tree, place->node[place->depth - 1])
	{
		name = fdt_get_name(place->tree, other, NULL);
		if (other == place->node[place->depth] || !name ||
		    base_length(name) != base_length(own) ||
		    strncmp(name, own, base_length(own)) != 0)
			continue;
		return vm_refuse(n, VM_REFUSED_DEVICE, "host",
		                 "is %s and %s: it has to be named with its address", own, name);
	}
	return true;
}

static bool is_bus(const struct host_place *place, int depth)
{
	return host_tree_says(place->tree, place->node[depth], "device_type", "pci");
}

bool host_parents_check(const struct vm_node *n, const struct host_place *place, const char *path)
{
	if (place->depth > 1 && strcmp(name_of(place, 1), "reserved-memory") == 0)
		return vm_refuse(n, VM_REFUSED_DEVICE, "host",
		                 "is memory that the host's tree keeps");
	for (int depth = 1; depth < place->depth; depth++) {
		if (host_tree_is_disabled(place->tree, place->node[depth]))
			return vm_refuse(n, VM_REFUSED_DEVICE, "host",
			                 "is below %s, which is disabled in the host's tree",
			                 name_of(place, depth));
		if (is_bus(place, depth))
			return vm_refuse(n, VM_REFUSED_DEVICE, "host",
			                 "is on a PCI bus: a VM has functions by pci");
	}
	return check_name(n, place, path);
}

bool host_parents_have_irqs(const struct vm_node *n, const struct host_place *place)
{
	static const char *const lists[] = {"interrupts-extended", "interrupts"};
	int own = place->node[place->depth], size;
	bool parent = false;

	for (unsigned int i = 0; i < 2; i++) {
		if (fdt_getprop(place->tree, own, lists[i], &size) && (size % 4 || !size))
			return vm_refuse(n, VM_REFUSED_INTERRUPT, "host",
			                 "has %s of %d bytes, which are no interrupts", lists[i],
			                 size);
	}
	if (!fdt_getprop(place->tree, own, lists[1], NULL) ||
	    fdt_getprop(place->tree, own, lists[0], NULL))
		return true;
	for (int depth = place->depth; depth >= 0; depth--)
		parent |= host_tree_u32(place->tree, place->node[depth], "interrupt-parent", 0);
	return parent || vm_refuse(n, VM_REFUSED_INTERRUPT, "host",
	                           "has interrupts, and no interrupt-parent says where they go");
}
