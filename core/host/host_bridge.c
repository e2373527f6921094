/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_bridge.h"

#include <libfdt.h>

#define BUS_BYTES UINT64_C(0x100000)
#define PAGE      UINT64_C(4096)

/* Fields of the first cell of an address on the bus. */
#define SPACE(cell) ((cell) >> 24 & 3)
#define SPACE_32    2U
#define SPACE_64    3U
#define PREFETCH    0x40000000U

#define PCI_CELLS 3 /* of an address below the bridge; its interrupts have one cell */

static const fdt32_t *cells_of(const struct host_bridge *bridge, const char *name, int *n)
{
	return host_tree_get(bridge->place.tree, bridge->place.node[bridge->place.depth], name, n);
}

static void read_windows(struct host_bridge *bridge)
{
	const struct host_place *place = &bridge->place;
	int n, high = fdt_address_cells(place->tree, place->node[place->depth - 1]);
	const fdt32_t *ranges = cells_of(bridge, "ranges", &n);
	int row = PCI_CELLS + high + 2;
	uint64_t base = 0, size = 0;
	enum host_reg found;

	for (uint32_t i = 0; bridge->n_windows < BRIDGE_WINDOWS; i++) {
		const fdt32_t *at = ranges + (ptrdiff_t)i * row;

		found = host_tree_window(place, i, &base, &size);
		if (found == HOST_REG_NONE || found == HOST_REG_BROKEN)
			return;
		if (found != HOST_REG_OK || SPACE(fdt32_ld(at)) < SPACE_32)
			continue;
		bridge->windows[bridge->n_windows++] = (struct bridge_window){
		    .bus = (uint64_t)fdt32_ld(at + 1) << 32 | fdt32_ld(at + 2),
		    .base = base,
		    .size = size,
		    .wide = SPACE(fdt32_ld(at)) == SPACE_64,
		    .prefetch = fdt32_ld(at) & PREFETCH,
		};
	}
}

const char *host_bridge_find(const void *host, struct host_bridge *bridge)
{
	uint64_t size = 0;
	const fdt32_t *buses;
	int n, node = -1;

	*bridge = (struct host_bridge){0};
	do {
		node = fdt_node_offset_by_compatible(host, node, "pci-host-ecam-generic");
	} while (node >= 0 && host_tree_is_disabled(host, node));
	if (node < 0)
		return "the host's tree has no PCI host bridge (pci-host-ecam-generic)";
	bridge->place = host_place_of(host, node);
	if (host_tree_reg(&bridge->place, 0, &bridge->ecam, &size) != HOST_REG_OK ||
	    bridge->ecam % PAGE || size < BUS_BYTES ||
	    host_tree_u32(host, node, "#interrupt-cells", 0) != 1)
		return "the host's tree says of the PCI host bridge what cannot be";
	buses = cells_of(bridge, "bus-range", &n);
	bridge->bus = n > 0 ? fdt32_ld(buses) & 0xff : 0;
	read_windows(bridge);
	return NULL;
}

bool host_bridge_irq(const struct host_bridge *bridge, const struct host_chip *chip, uint32_t bdf,
                     uint32_t pin, struct host_irq *irq)
{
	const void *tree = bridge->place.tree;
	int n, n_mask;
	const fdt32_t *map = cells_of(bridge, "interrupt-map", &n);
	const fdt32_t *mask = cells_of(bridge, "interrupt-map-mask", &n_mask);
	uint32_t device = bdf << 8, of_device, of_pin;

	*irq = (struct host_irq){0};
	if (n_mask != PCI_CELLS + 1 || chip->node < 0 || !chip->phandle)
		return false;
	of_device = fdt32_ld(&mask[0]);
	of_pin = fdt32_ld(&mask[PCI_CELLS]);
	while (n > PCI_CELLS + 2) {
		int at, row = host_tree_map_row(tree, chip, map, PCI_CELLS + 1, &at);

		if (row > n || row == at)
			return false;
		if ((fdt32_ld(&map[0]) & of_device) == (device & of_device) &&
		    (fdt32_ld(&map[PCI_CELLS]) & of_pin) == (pin & of_pin)) {
			*irq = (struct host_irq){fdt32_ld(&map[at]),
			                         row > at + 1 ? fdt32_ld(&map[at + 1]) : 0};
			return fdt32_ld(&map[PCI_CELLS + 1]) == chip->phandle;
		}
		map += row;
		n -= row;
	}
	return false;
}

bool host_bridge_device_id(const struct host_bridge *bridge, uint32_t bdf, uint32_t *id, int *iommu)
{
	int n, n_mask;
	const fdt32_t *map = cells_of(bridge, "iommu-map", &n);
	const fdt32_t *mask = cells_of(bridge, "iommu-map-mask", &n_mask);
	uint32_t masked = n_mask == 1 ? bdf & fdt32_ld(mask) : bdf;

	for (; n >= 4; n -= 4, map += 4) {
		uint32_t from = fdt32_ld(&map[0]), length = fdt32_ld(&map[3]);

		if (masked < from || masked - from >= length)
			continue;
		*iommu = fdt_node_offset_by_phandle(bridge->place.tree, fdt32_ld(&map[1]));
		*id = fdt32_ld(&map[2]) + (masked - from);
		return *iommu >= 0;
	}
	return false;
}
