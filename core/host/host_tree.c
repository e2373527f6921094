/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_tree.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/dt_path.h"
#include "core/host/fdt_index.h"
#include "core/lib/types.h"

#define SOURCES   1023U /* of a controller, if its node does not say how many */
#define IRQ_S_EXT 9U    /* a hart's local interrupt: supervisor external */

uint64_t host_tree_cells(const fdt32_t *cells, int n)
{
	uint64_t value = 0;

	for (int i = 0; i < n; i++)
		value = value << 32 | fdt32_ld(&cells[i]);
	return value;
}

const fdt32_t *host_tree_get(const void *tree, int node, const char *name, int *n)
{
	int size;
	const fdt32_t *cells = fdt_getprop(tree, node, name, &size);
	bool whole = cells && size % 4 == 0;

	*n = whole ? size / 4 : cells ? 0 : -1;
	return whole ? cells : NULL;
}

uint32_t host_tree_u32(const void *tree, int node, const char *name, uint32_t otherwise)
{
	int n;
	const fdt32_t *cells = host_tree_get(tree, node, name, &n);

	return n == 1 ? fdt32_ld(cells) : otherwise;
}

struct host_place host_place_root(const void *tree)
{
	return (struct host_place){.tree = tree};
}

bool host_place_next(struct host_place *place)
{
	int depth = place->depth;
	int node = place->node[depth];

	do {
		node = fdt_next_node(place->tree, node, &depth);
		if (node < 0 || depth < 0)
			return false;
		place->passed |= depth >= HOST_TREE_DEPTH;
	} while (depth >= HOST_TREE_DEPTH);
	place->depth = depth;
	place->node[depth] = node;
	return true;
}

bool host_tree_is_flat(const void *tree)
{
	struct host_place place = host_place_root(tree);

	while (host_place_next(&place))
		;
	return !place.passed;
}

struct host_place host_place_of(const void *tree, int node)
{
	struct host_place place = {.tree = tree, .depth = fdt_node_depth(tree, node)};

	if (place.depth < 0 || place.depth >= HOST_TREE_DEPTH)
		return host_place_root(tree);
	for (int depth = 1; depth <= place.depth; depth++)
		place.node[depth] = fdt_supernode_atdepth_offset(tree, node, depth, NULL);
	return place;
}

/* Translates an address below a bus to one above it. `bus` and `above` are nodes. */
static enum host_reg go_up(const void *tree, int bus, int above, uint64_t *base, uint64_t size)
{
	struct fdt_node *known = fdt_index_find(tree, bus);
	int n, low, high, span, row;
	const fdt32_t *ranges;

	if (known && known->same)
		return HOST_REG_OK;
	low = fdt_address_cells(tree, bus);
	high = fdt_address_cells(tree, above);
	span = fdt_size_cells(tree, bus);
	row = low + high + span;
	ranges = host_tree_get(tree, bus, "ranges", &n);
	if (n < 0 || high < 1 || high > 2)
		return HOST_REG_ELSEWHERE;
	if (!ranges || low < 1 || span < 1 || span > 2 || n % row)
		return HOST_REG_BROKEN;
	if (!n && low == high && known)
		known->same = true;
	if (!n)
		return low == high ? HOST_REG_OK : HOST_REG_BROKEN;
	for (; n; n -= row, ranges += row) {
		uint64_t from = host_tree_cells(ranges, low);
		uint64_t to = host_tree_cells(ranges + low, high);
		uint64_t length = host_tree_cells(ranges + low + high, span);
		uint64_t offset = *base - from;

		if (*base < from || offset >= length)
			continue;
		if (size > length - offset || to > UINT64_MAX - length)
			return HOST_REG_BROKEN;
		*base = to + offset;
		return HOST_REG_OK;
	}
	return HOST_REG_ELSEWHERE;
}

/* Reads an address on the bus of a node, and a size, and translates them to those of the harts. */
static enum host_reg read_range(const struct host_place *place, const fdt32_t *cells, int address,
                                int span, uint64_t *base, uint64_t *size)
{
	enum host_reg up = HOST_REG_OK;

	*base = host_tree_cells(cells, address);
	*size = host_tree_cells(cells + address, span);
	if (*size > UINT64_MAX - *base)
		return HOST_REG_BROKEN;
	for (int at = place->depth - 1; at > 0 && up == HOST_REG_OK; at--)
		up = go_up(place->tree, place->node[at], place->node[at - 1], base, *size);
	return up;
}

enum host_reg host_tree_reg(const struct host_place *place, uint32_t index, uint64_t *base,
                            uint64_t *size)
{
	const void *tree = place->tree;
	int n, node = place->node[place->depth];
	int bus = place->depth ? place->node[place->depth - 1] : 0;
	const fdt32_t *reg = host_tree_get(tree, node, "reg", &n);
	int address, span, row;

	if (!place->depth || n < 0)
		return HOST_REG_NONE;
	address = fdt_address_cells(tree, bus);
	span = fdt_size_cells(tree, bus);
	row = address + span;
	if (address < 0 || span < 0 || !reg || (row && n % row))
		return HOST_REG_BROKEN;
	if (index >= (row ? (uint32_t)(n / row) : 1))
		return HOST_REG_NONE;
	if (address < 1 || address > 2 || span < 1 || span > 2)
		return HOST_REG_ELSEWHERE;
	return read_range(place, reg + (ptrdiff_t)index * row, address, span, base, size);
}

bool host_tree_registers(const void *tree, int node, uint64_t *base, uint64_t *size)
{
	struct host_place place = host_place_of(tree, node);

	return host_tree_reg(&place, 0, base, size) == HOST_REG_OK;
}

enum host_reg host_tree_window(const struct host_place *place, uint32_t index, uint64_t *base,
                               uint64_t *size)
{
	const void *tree = place->tree;
	int n, node = place->node[place->depth];
	const fdt32_t *ranges = host_tree_get(tree, node, "ranges", &n);
	int low, span, high, row;

	if (!ranges || !place->depth)
		return HOST_REG_NONE;
	low = fdt_address_cells(tree, node);
	span = fdt_size_cells(tree, node);
	high = fdt_address_cells(tree, place->node[place->depth - 1]);
	row = low + high + span;
	if (low != 3 || span != 2 || high < 1 || high > 2 || index >= (uint32_t)(n / row))
		return HOST_REG_NONE;
	ranges += (uint64_t)index * (uint32_t)row + (uint32_t)low;
	return read_range(place, ranges, high, span, base, size);
}

bool host_tree_says(const void *tree, int node, const char *property, const char *word)
{
	int size;
	const char *list = fdt_getprop(tree, node, property, &size);

	/* libfdt would take the padding behind a list without its NUL for the NUL. */
	return list && size > 0 && !list[size - 1] && fdt_stringlist_contains(list, size, word);
}

bool host_tree_is_disabled(const void *tree, int node)
{
	int size;
	const char *status = fdt_getprop(tree, node, "status", &size);

	return status && size > 0 && !(size >= 5 && memcmp(status, "okay", 5) == 0) &&
	       !(size >= 3 && memcmp(status, "ok", 3) == 0);
}

/* Whether arch/riscv/devices/uart.c can drive it. */
static bool is_uart(const void *tree, int node)
{
	static const char *const known[] = {"ns16550a", "ns16550", "snps,dw-apb-uart",
	                                    "intel,xscale-uart"};
	uint32_t width = host_tree_u32(tree, node, "reg-io-width", 1);

	if (host_tree_is_disabled(tree, node) || (width != 1 && width != 4) ||
	    host_tree_u32(tree, node, "reg-shift", 0) > 4)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (host_tree_says(tree, node, "compatible", known[i]))
			return true;
	}
	return false;
}

/* Returns the node that /chosen/stdout-path names; negative if there is none. */
static int stdout_of(const void *tree)
{
	int size;
	const char *path =
	    fdt_getprop(tree, fdt_subnode_offset(tree, 0, "chosen"), "stdout-path", &size);
	const char *end = NULL;

	if (path && size > 0) {
		end = memchr(path, ':', (size_t)size);
		if (!end)
			end = memchr(path, 0, (size_t)size);
	}
	return end ? dt_path(tree, path, (size_t)(end - path)) : -FDT_ERR_NOTFOUND;
}

bool host_tree_is_console(const void *tree, int node)
{
	int console = stdout_of(tree);

	return node == (console >= 0 ? console : host_tree_console(tree));
}

int host_tree_console(const void *tree)
{
	int node = stdout_of(tree);

	if (node >= 0)
		return is_uart(tree, node) ? node : -FDT_ERR_NOTFOUND;
	for (node = 0; node >= 0; node = fdt_next_node(tree, node, NULL)) {
		if (is_uart(tree, node))
			return node;
	}
	return node;
}

/* Whether the controller, or its MSI controller, interrupts S-mode of some hart. */
static bool is_for_s(const void *tree, int node)
{
	uint32_t imsic = host_tree_u32(tree, node, "msi-parent", 0);
	int n, knows_harts = imsic ? fdt_node_offset_by_phandle(tree, imsic) : node;
	const fdt32_t *pairs = host_tree_get(tree, knows_harts, "interrupts-extended", &n);

	for (int i = 1; i < n; i += 2) {
		if (fdt32_ld(&pairs[i]) == IRQ_S_EXT)
			return true;
	}
	return false;
}

bool host_chip_next(const void *tree, struct host_chip *chip)
{
	static const struct {
		const char *compatible;
		uint16_t cells;
	} known[] = {{"riscv,plic0", 1}, {"sifive,plic-1.0.0", 1}, {"riscv,aplic", 2}};

	for (; chip->kind < ARRAY_SIZE(known); chip->kind++, chip->node = -1) {
		do {
			chip->node = fdt_node_offset_by_compatible(tree, chip->node,
			                                           known[chip->kind].compatible);
		} while (chip->node >= 0 && host_tree_is_disabled(tree, chip->node));
		chip->cells = known[chip->kind].cells;
		if (chip->node >= 0)
			return true;
	}
	return false;
}

struct host_chip host_tree_chip(const void *tree)
{
	struct host_chip chip = {.node = -1};

	while (host_chip_next(tree, &chip)) {
		if (!is_for_s(tree, chip.node) ||
		    host_tree_u32(tree, chip.node, "#interrupt-cells", chip.cells) != chip.cells)
			continue;
		chip.phandle = fdt_get_phandle(tree, chip.node);
		chip.sources = host_tree_u32(
		    tree, chip.node, chip.cells == 1 ? "riscv,ndev" : "riscv,num-sources", SOURCES);
		return chip;
	}
	return (struct host_chip){.node = -1};
}

/* The interrupts of one node, one after the other. */
struct irq_walk {
	const fdt32_t *at;
	int left;        /* cells */
	uint32_t parent; /* 0 if each interrupt names its own */
};

static struct irq_walk irq_walk(const struct host_place *place)
{
	const void *tree = place->tree;
	int node = place->node[place->depth];
	struct irq_walk walk = {0};

	walk.at = host_tree_get(tree, node, "interrupts-extended", &walk.left);
	if (walk.at)
		return walk;
	walk.at = host_tree_get(tree, node, "interrupts", &walk.left);
	if (!walk.at)
		return walk;
	/* A node without interrupt-parent inherits the one of its parent. */
	for (int i = place->depth; i >= 0 && !walk.parent; i--)
		walk.parent = host_tree_u32(tree, place->node[i], "interrupt-parent", 0);
	return walk;
}

/* Returns the same as host_tree_irq(). After -1 the walk may continue if it has cells left. */
static int irq_next(const void *tree, struct irq_walk *walk, const struct host_chip *chip,
                    struct host_irq *irq)
{
	uint32_t parent = walk->parent;
	int n = (int)chip->cells;

	if (!walk->at || !walk->left)
		return 0;
	if (!parent) {
		parent = fdt32_ld(walk->at++);
		walk->left--;
	}
	if (!parent || parent != chip->phandle)
		n = (int)(host_tree_u32(tree, fdt_node_offset_by_phandle(tree, parent),
		                        "#interrupt-cells", UINT32_MAX) &
		          INT32_MAX);
	/* With an interrupt of no cells the walk would never end. */
	if (n > walk->left || !n) {
		walk->left = 0;
		return -1;
	}
	if (parent && parent == chip->phandle)
		*irq = (struct host_irq){fdt32_ld(walk->at), n > 1 ? fdt32_ld(walk->at + 1) : 0};
	walk->at += n;
	walk->left -= n;
	return parent && parent == chip->phandle ? 1 : -1;
}

int host_tree_irq(const struct host_place *place, const struct host_chip *chip, uint32_t index,
                  struct host_irq *irq)
{
	struct irq_walk walk = irq_walk(place);
	int result = irq_next(place->tree, &walk, chip, irq);

	while (result && index--)
		result = irq_next(place->tree, &walk, chip, irq);
	return result;
}

int host_tree_map_row(const void *tree, const struct host_chip *chip, const fdt32_t *map, int own,
                      int *at)
{
	uint32_t phandle = fdt32_ld(&map[own]);
	int parent =
	    phandle == chip->phandle ? chip->node : fdt_node_offset_by_phandle(tree, phandle);

	*at = own + 1 + (int)(host_tree_u32(tree, parent, "#address-cells", 0) & 15);
	return *at + (int)(host_tree_u32(tree, parent, "#interrupt-cells", 1) & 15);
}

/* Calls each() for the sources that the rows of the node's interrupt-map lead to. */
static bool each_mapped(const void *tree, int node, const struct host_chip *chip,
                        bool (*each)(uint32_t source, void *arg), void *arg)
{
	int n, own;
	const fdt32_t *map = host_tree_get(tree, node, "interrupt-map", &n);

	if (!map)
		return false;
	own = fdt_address_cells(tree, node) +
	      (int)(host_tree_u32(tree, node, "#interrupt-cells", 1) & 15);
	while (own >= 0 && n > own) {
		int at, row = host_tree_map_row(tree, chip, map, own, &at);

		if (row > n)
			return false;
		if (fdt32_ld(&map[own]) == chip->phandle && row > at &&
		    each(fdt32_ld(&map[at]), arg))
			return true;
		map += row;
		n -= row;
	}
	return false;
}

bool host_tree_has_types(const struct host_place *place, const struct host_chip *chip)
{
	int n, node = place->node[place->depth];
	const fdt32_t *cells = host_tree_get(place->tree, node, "interrupts", &n);

	return cells && n == 8 && chip->cells == 1 && fdt32_ld(&cells[1]) == fdt32_ld(&cells[3]) &&
	       host_tree_says(place->tree, node, "compatible", "riscv,iommu");
}

bool host_tree_each_source(const struct host_place *place, const struct host_chip *chip,
                           bool (*each)(uint32_t source, void *arg), void *arg)
{
	struct irq_walk walk = irq_walk(place);
	struct host_irq irq, type;
	int result;

	while ((result = irq_next(place->tree, &walk, chip, &irq))) {
		if (result > 0 && each(irq.source, arg))
			return true;
		if (host_tree_has_types(place, chip))
			irq_next(place->tree, &walk, chip, &type);
	}
	return each_mapped(place->tree, place->node[place->depth], chip, each, arg);
}

static bool is_source(uint32_t source, void *wanted)
{
	return source == *(const uint32_t *)wanted;
}

bool host_tree_has_source(const struct host_place *place, const struct host_chip *chip,
                          uint32_t source)
{
	return host_tree_each_source(place, chip, is_source, &source);
}
