/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/host_cpus.h"

#include <libfdt.h>

#include "core/config/host_tree.h"
#include "core/config/vm_config.h"

struct host_cpu host_cpus(const void *tree)
{
	return (struct host_cpu){
	    .tree = tree, .cpus = fdt_subnode_offset(tree, 0, "cpus"), .node = -1};
}

/* The id has as many cells as /cpus says. */
static bool read_id(struct host_cpu *cpu)
{
	int size, cells = fdt_address_cells(cpu->tree, cpu->cpus);
	int more = fdt_size_cells(cpu->tree, cpu->cpus);
	const fdt32_t *reg = fdt_getprop(cpu->tree, cpu->node, "reg", &size);

	if (!reg || cells < 1 || cells > 2 || more < 0 || more > 2 || size < 4 * (cells + more))
		return false;
	cpu->hartid = fdt32_ld(&reg[0]);
	if (cells == 2)
		cpu->hartid = cpu->hartid << 32 | fdt32_ld(&reg[1]);
	return true;
}

bool host_cpu_next(struct host_cpu *cpu)
{
	const void *tree = cpu->tree;

	while (cpu->cpus >= 0) {
		cpu->node = cpu->node < 0 ? fdt_first_subnode(tree, cpu->cpus)
		                          : fdt_next_subnode(tree, cpu->node);
		if (cpu->node < 0) {
			cpu->cpus = -1;
		} else if (host_tree_says(tree, cpu->node, "device_type", "cpu") && read_id(cpu)) {
			cpu->disabled = host_tree_is_disabled(tree, cpu->node);
			return true;
		}
	}
	return false;
}

_Static_assert(VM_MAX_HARTS == 64, "below");

const char *host_cpu_unread(const void *tree, uint64_t hartid)
{
	struct host_cpu cpu = host_cpus(tree);

	while (host_cpu_next(&cpu)) {
		if (cpu.hartid == hartid)
			return cpu.disabled ? "the tree disables it"
			                    : "Tally runs on 64 harts at most";
	}
	return NULL;
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

uint32_t host_cpu_guest_files(const void *tree, uint64_t hartid)
{
	struct host_cpu cpu = host_cpus(tree);

	while (host_cpu_next(&cpu)) {
		if (cpu.hartid == hartid && !cpu.disabled)
			return host_tree_guest_files(tree, host_cpu_intc(&cpu));
	}
	return 0;
}

/* Each node that says it has to say the same. Returns what is wrong. */
static const char *read_clock(const void *tree, int node, uint32_t *hz)
{
	int size;
	const fdt32_t *cells = fdt_getprop(tree, node, "timebase-frequency", &size);
	uint64_t own = 0;

	if (!cells)
		return NULL;
	if (size == 4 || size == 8)
		own = fdt32_ld(&cells[0]);
	if (size == 8)
		own = own << 32 | fdt32_ld(&cells[1]);
	if (own < 1000 || own > UINT32_MAX)
		return "timebase-frequency is no clock that Tally knows";
	if (*hz && *hz != own)
		return "its timebase-frequency is not that of others";
	*hz = (uint32_t)own;
	return NULL;
}

const char *host_clock(const void *tree, uint32_t *hz, const char **name)
{
	struct host_cpu cpu = host_cpus(tree);
	int node = cpu.cpus;
	const char *why;

	*hz = 0;
	*name = NULL;
	if (cpu.cpus < 0)
		return "no /cpus";
	why = read_clock(tree, node, hz);
	while (!why && host_cpu_next(&cpu)) {
		node = cpu.node;
		if (!cpu.disabled)
			why = read_clock(tree, node, hz);
	}
	if (why)
		*name = fdt_get_name(tree, node, NULL);
	else if (!*hz)
		why = "no timebase-frequency in /cpus or a hart's node";
	return why;
}
