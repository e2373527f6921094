/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/tree.h"

#include <libfdt.h>

#include "core/host/dt_path.h"
#include "core/host/host_cpus.h"
#include "core/host/host_tree.h"

/* Tally uses at most as many guest interrupt files of a hart as these bits can number. */
#define FILE_BITS 3U

#define IRQ_S_EXT 9U /* a hart's local interrupt: supervisor external */

/* Whether a controller interrupts S-mode of the hart whose own controller is intc. */
static bool interrupts_s(const void *tree, int node, uint32_t intc)
{
	int n;
	const fdt32_t *pairs = host_tree_get(tree, node, "interrupts-extended", &n);

	for (int i = 0; i + 1 < n; i += 2) {
		if (fdt32_ld(&pairs[i]) == intc && fdt32_ld(&pairs[i + 1]) == IRQ_S_EXT)
			return true;
	}
	return false;
}

static uint32_t files_of(const void *tree, uint32_t intc)
{
	struct host_chip chip = host_tree_chip(tree);
	uint32_t imsic = chip.cells == 2 ? host_tree_u32(tree, chip.node, "msi-parent", 0) : 0;
	int node = imsic ? fdt_node_offset_by_phandle(tree, imsic) : -1;
	uint32_t bits;

	if (node < 0 || !intc || !interrupts_s(tree, node, intc))
		return 0;
	bits = host_tree_u32(tree, node, "riscv,guest-index-bits", 0);
	return (1U << (bits < FILE_BITS ? bits : FILE_BITS)) - 1;
}

uint32_t tree_guest_files(const void *tree, uint64_t hartid)
{
	struct host_cpu cpu = host_cpus(tree);

	while (host_cpu_next(&cpu)) {
		if (cpu.hartid == hartid && !cpu.disabled)
			return files_of(tree, host_cpu_intc(&cpu));
	}
	return 0;
}

static void tell_if_broken(const void *tree, int above, int node, void (*tell)(const char *name))
{
	struct host_place place = {.tree = tree, .depth = 1, .node = {above, node}};
	uint64_t base, size;
	enum host_reg found = HOST_REG_OK;

	for (uint32_t i = 0; found == HOST_REG_OK; i++)
		found = host_tree_reg(&place, i, &base, &size);
	if (found != HOST_REG_NONE && !host_tree_is_disabled(tree, node))
		tell(fdt_get_name(tree, node, NULL));
}

void tree_broken_memory(const void *tree, void (*tell)(const char *name))
{
	int node, above = fdt_subnode_offset(tree, 0, "reserved-memory");

	for (node = dt_memory(tree, -1); node >= 0; node = dt_memory(tree, node))
		tell_if_broken(tree, 0, node, tell);
	if (above < 0)
		return;
	fdt_for_each_subnode(node, tree, above)
	{
		tell_if_broken(tree, above, node, tell);
	}
}
