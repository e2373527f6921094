/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_iommu.h"

#include <libfdt.h>

#define IOMMU_PAGE 4096U /* its registers fill one */

#define IDS UINT32_C(0x1000000) /* a device id has 24 bits */

static void read_wires(const struct host_place *place, struct host_iommu *iommu)
{
	const struct host_chip chip = host_tree_chip(place->tree);
	uint32_t step, n = 0;
	struct host_irq type;

	if (chip.node < 0)
		return;
	iommu->typed_wires = host_tree_has_types(place, &chip);
	step = iommu->typed_wires ? 2 : 1;
	for (; n < HOST_IOMMU_WIRES; n++) {
		struct host_irq *wire = &iommu->wires[n];

		if (host_tree_irq(place, &chip, n * step, wire) <= 0 || !wire->source ||
		    wire->source > chip.sources)
			break;
		if (!iommu->typed_wires)
			continue;
		if (host_tree_irq(place, &chip, n * step + 1, &type) > 0)
			wire->type = type.source;
	}
	iommu->n_wires = n;
	iommu->typed_wires &= n > 0;
}

static void add_range(struct host_iommu *iommu, const fdt32_t *row)
{
	uint32_t function = fdt32_ld(&row[0]), id = fdt32_ld(&row[2]), length = fdt32_ld(&row[3]);

	if (!length || iommu->n_ranges == HOST_IOMMU_RANGES || length > IDS || id > IDS - length ||
	    function > IDS - length)
		return;
	iommu->ranges[iommu->n_ranges].function = function;
	iommu->ranges[iommu->n_ranges].id = id;
	iommu->ranges[iommu->n_ranges++].length = length;
	if (id + length - 1 > iommu->last_id)
		iommu->last_id = id + length - 1;
}

static void read_map(const void *tree, uint32_t phandle, struct host_iommu *iommu)
{
	int size, node = fdt_node_offset_by_prop_value(tree, -1, "device_type", "pci", 4);
	const fdt32_t *map = node < 0 ? NULL : fdt_getprop(tree, node, "iommu-map", &size);

	if (!map || !phandle)
		return;
	for (int n = size / 4; n >= 4; n -= 4, map += 4) {
		if (fdt32_ld(&map[1]) == phandle)
			add_range(iommu, map);
	}
}

/* Returns an upper bound of the ids that a node assigns, exclusive. Each cell of `iommus` counts as
 * an id, because it may be one. */
static uint32_t end_of_ids(const void *tree, int node)
{
	int size, n;
	const fdt32_t *cells = fdt_getprop(tree, node, "iommu-map", &size);
	uint64_t end = 0, last;

	for (n = cells ? size / 4 : 0; n >= 4; n -= 4, cells += 4) {
		last = (uint64_t)fdt32_ld(&cells[2]) + fdt32_ld(&cells[3]);
		end = last > end ? last : end;
	}
	cells = fdt_getprop(tree, node, "iommus", &size);
	for (n = cells ? size / 4 : 0; n >= 1; n--, cells++) {
		last = (uint64_t)fdt32_ld(cells) + 1;
		end = last > end ? last : end;
	}
	return end < IDS ? (uint32_t)end : IDS;
}

static uint32_t find_unused_id(const void *tree)
{
	uint32_t id = 1, end;

	for (int node = 0; node >= 0; node = fdt_next_node(tree, node, NULL)) {
		end = end_of_ids(tree, node);
		id = end > id ? end : id;
	}
	return id < IDS ? id : 0;
}

bool host_iommu_find(const void *tree, struct host_iommu *iommu)
{
	int node = -1;

	*iommu = (struct host_iommu){0};
	while ((node = fdt_node_offset_by_compatible(tree, node, "riscv,iommu")) >= 0) {
		struct host_place place = host_place_of(tree, node);

		if (host_tree_is_disabled(tree, node) ||
		    host_tree_reg(&place, 0, &iommu->base, &iommu->size) != HOST_REG_OK ||
		    iommu->base % IOMMU_PAGE || iommu->size < IOMMU_PAGE)
			continue;
		read_wires(&place, iommu);
		read_map(tree, fdt_get_phandle(tree, node), iommu);
		iommu->unused_id = find_unused_id(tree);
		return true;
	}
	return false;
}
