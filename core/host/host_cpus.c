/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_cpus.h"

#include <libfdt.h>

#include "core/host/host_tree.h"

struct host_cpu host_cpus(const void *tree)
{
	return (struct host_cpu){
	    .tree = tree, .cpus = fdt_subnode_offset(tree, 0, "cpus"), .node = -1};
}

/* The id has as many cells as #address-cells of /cpus. #size-cells is ignored: a hart has no
 * size. */
static bool read_id(struct host_cpu *cpu, int node)
{
	int size, cells = fdt_address_cells(cpu->tree, cpu->cpus);
	const fdt32_t *reg = fdt_getprop(cpu->tree, node, "reg", &size);

	if (!reg || cells < 1 || cells > 2 || size < 4 * cells)
		return false;
	cpu->hartid = host_tree_cells(reg, cells);
	return true;
}

bool host_cpu_next(struct host_cpu *cpu)
{
	const void *tree = cpu->tree;
	int node = cpu->node;

	if (cpu->cpus < 0)
		return false;
	for (;;) {
		node = node < 0 ? fdt_first_subnode(tree, cpu->cpus) : fdt_next_subnode(tree, node);
		if (node < 0)
			return false;
		if (host_tree_says(tree, node, "device_type", "cpu") && read_id(cpu, node))
			break;
	}
	cpu->node = node;
	cpu->disabled = host_tree_is_disabled(tree, node);
	return true;
}

uint32_t host_cpu_intc(const struct host_cpu *cpu)
{
	uint32_t phandle = 0;
	int node;

	fdt_for_each_subnode(node, cpu->tree, cpu->node)
	{
		if (fdt_getprop(cpu->tree, node, "interrupt-controller", NULL))
			phandle = fdt_get_phandle(cpu->tree, node);
	}
	return phandle;
}

const char *host_clock(const void *tree, int node, uint32_t *hz)
{
	int size;
	const fdt32_t *cells = fdt_getprop(tree, node, "timebase-frequency", &size);
	uint64_t own = 0;

	if (!cells)
		return NULL;
	if (size == 4 || size == 8)
		own = host_tree_cells(cells, size / 4);
	if (own < 1000 || own > UINT32_MAX)
		return "timebase-frequency is no clock that Tally knows";
	if (*hz && *hz != own)
		return "its timebase-frequency is not that of others";
	*hz = (uint32_t)own;
	return NULL;
}
