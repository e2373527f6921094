/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the host's device tree: the addresses of a node's registers, and the destinations of its
 * interrupts. Pure, so that tools/vm-check and boot find the same. The blob has passed
 * fdt_check_full(), and nothing in it is trusted beyond that.
 */
#ifndef CORE_HOST_HOST_TREE_H
#define CORE_HOST_HOST_TREE_H

#include <libfdt.h>
#include <stdbool.h>
#include <stdint.h>

/* Deeper nodes are ignored. If there are none, host_tree_is_flat() returns true. */
#define HOST_TREE_DEPTH 16

/* A node and its ancestors: node[0] is the root, node[depth] the node itself. */
struct host_place {
	const void *tree;
	int depth;
	bool passed; /* a walk has passed nodes that are too deep */
	int node[HOST_TREE_DEPTH];
};

struct host_irq {
	uint32_t source;
	uint32_t type; /* the second cell; 0 if the controller has one cell only */
};

/* The interrupt controller that delivers device interrupts to S-mode, and that Tally drives. */
struct host_chip {
	int node; /* negative if there is none */
	uint32_t phandle;
	uint16_t kind;    /* for host_chip_next() */
	uint16_t cells;   /* of an interrupt: 1 (PLIC) or 2 (APLIC) */
	uint32_t sources; /* the highest number; 1023 if the tree does not have it */
};

enum host_reg { HOST_REG_OK, HOST_REG_NONE, HOST_REG_BROKEN, HOST_REG_ELSEWHERE };

/* Whether no node is nested deeper than HOST_TREE_DEPTH. */
bool host_tree_is_flat(const void *tree);

/* Begin a walk of all nodes at the root, and go to the next one, in the order of the blob.
 * host_place_next() returns false at the end. */
struct host_place host_place_root(const void *tree);
bool host_place_next(struct host_place *place);

/* Returns the place of a node that the tree has. */
struct host_place host_place_of(const void *tree, int node);

/*
 * Finds the index-th registers of a node, as addresses of the harts. HOST_REG_NONE: there are
 * fewer; HOST_REG_BROKEN: reg, or a ranges above, is inconsistent; HOST_REG_ELSEWHERE: the harts
 * cannot access them.
 */
enum host_reg host_tree_reg(const struct host_place *place, uint32_t index, uint64_t *base,
                            uint64_t *size);

/* Finds the first registers of a node. Returns false if the harts cannot access any. */
bool host_tree_registers(const void *tree, int node, uint64_t *base, uint64_t *size);

/* Finds the index-th window through which the harts access a PCI bus. The results are the same. */
enum host_reg host_tree_window(const struct host_place *place, uint32_t index, uint64_t *base,
                               uint64_t *size);

bool host_tree_is_disabled(const void *tree, int node);

/* Returns the number in n cells of a property: the lower 64 bits if there are more than two. */
uint64_t host_tree_cells(const fdt32_t *cells, int n);

/* Returns a property of whole cells, or NULL. *n is their number; 0 if its size is another one, and
 * negative if there is no property. */
const fdt32_t *host_tree_get(const void *tree, int node, const char *property, int *n);

/* Reads a property of one cell; if the node has none, returns `otherwise`. */
uint32_t host_tree_u32(const void *tree, int node, const char *property, uint32_t otherwise);

/* Whether a string list contains a string. */
bool host_tree_says(const void *tree, int node, const char *property, const char *word);

/* Returns the UART that Tally drives: the one of stdout-path; if that names no node, the first that
 * Tally can drive. Negative if there is none, or if stdout-path names another UART, which is the
 * firmware's. */
int host_tree_console(const void *tree);

/* Whether a node is the console's, Tally's or the firmware's. */
bool host_tree_is_console(const void *tree, int node);

/* Reasons why the console has no input, as boot and tools/vm-check print them. */
#define HOST_NO_UART "nothing: the host tree names no UART that Tally knows"
#define HOST_NO_CHIP "nothing: no interrupt controller that Tally knows"

/* Goes to the next controller of a kind that Tally can drive and that is not disabled: finds its
 * node and cells. Returns false at the end. Before the first one `node` is -1, and the other
 * members are 0. */
bool host_chip_next(const void *tree, struct host_chip *chip);

/* Finds the first controller of these that interrupts S-mode of some hart. */
struct host_chip host_tree_chip(const void *tree);

/*
 * Reads the index-th interrupt of a node. Returns 1 if it is at the controller, 0 if the node has
 * no more, -1 if it is at another controller, or cannot be read.
 */
int host_tree_irq(const struct host_place *place, const struct host_chip *chip, uint32_t index,
                  struct host_irq *irq);

/* Returns the number of cells of the first row of an interrupt-map, in which `own` cells come
 * before the parent's phandle, and sets *at to the first cell of the parent's interrupt. The row
 * may be longer than the map. */
int host_tree_map_row(const void *tree, const struct host_chip *chip, const fdt32_t *map, int own,
                      int *at);

/* Whether each second cell of the node's interrupts is a type, although an interrupt of the
 * controller has one cell. QEMU (10.0) makes such a node for its IOMMU below a PLIC. */
bool host_tree_has_types(const struct host_place *place, const struct host_chip *chip);

/* Calls each() with the sources of the controller that are interrupts of the node, or in its
 * interrupt-map, until it returns true. Returns whether it did. */
bool host_tree_each_source(const struct host_place *place, const struct host_chip *chip,
                           bool (*each)(uint32_t source, void *arg), void *arg);

/* Whether the source of the controller is an interrupt of the node, or in its interrupt-map. */
bool host_tree_has_source(const struct host_place *place, const struct host_chip *chip,
                          uint32_t source);

#endif
