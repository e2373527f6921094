/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devicetree Specification 0.4, 3.5. A child without reg requests memory anywhere, which concerns
 * operating systems only. The blob's memory reservation block is ignored: boot loaders list there
 * the VM tree, whose place /chosen has, and the host's tree, which Tally has copied. Addresses are
 * the machine's: the node's `ranges`, which has to be there and empty, is ignored, because a tree
 * without it reserves memory all the same.
 */
#include "core/host/host_reserved.h"

#include <libfdt.h>

#include "core/host/host_tree.h"

/* Finds the first reserved range in the tree that overlaps; with no_map, only ranges with this
 * property. */
static bool find(const void *tree, uint64_t base, uint64_t size, bool no_map,
                 struct host_reserved *found)
{
	int node,
	    parent = tree ? fdt_subnode_offset(tree, 0, "reserved-memory") : -FDT_ERR_NOTFOUND;
	uint64_t at = 0, bytes = 0;

	if (parent < 0)
		return false;
	fdt_for_each_subnode(node, tree, parent)
	{
		struct host_place place = {.tree = tree, .depth = 1, .node = {parent, node}};

		if (host_tree_is_disabled(tree, node) ||
		    (no_map && !fdt_getprop(tree, node, "no-map", NULL)))
			continue;
		for (uint32_t i = 0; host_tree_reg(&place, i, &at, &bytes) == HOST_REG_OK; i++) {
			if (!bytes || bytes > ~at || !vm_ranges_overlap(base, size, at, bytes))
				continue;
			*found = (struct host_reserved){node, {at, at + bytes}};
			return true;
		}
	}
	return false;
}

bool host_reserved_find(const void *tree, uint64_t base, uint64_t size, struct host_reserved *found)
{
	return find(tree, base, size, false, found);
}

bool host_reserved_no_map(const void *tree, uint64_t base, uint64_t size)
{
	struct host_reserved found;

	return find(tree, base, size, true, &found);
}
