/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the nodes of a device tree, so that a walk of all nodes reads a few words of each
 * instead of all its properties. fdt_check_full() makes it; fdt_nodes.c and fdt_walk.c, which
 * replace functions of libfdt, read it. A tree that does not fit in the table, or that has none, is
 * read as libfdt does. Used at boot only, by one hart. A tree must not change while it has a table.
 */
#ifndef CORE_HOST_FDT_INDEX_H
#define CORE_HOST_FDT_INDEX_H

#include <stdbool.h>
#include <stdint.h>

/* All trees together. */
#define FDT_INDEX_NODES 1024U

/* A tag as it is stored in the tree. */
#define FDT_STORED_SHIFT 24
#define FDT_STORED(tag)  ((uint32_t)(tag) << FDT_STORED_SHIFT)

#define FDT_NODE_CELLS 32 /* more than the number of any error of libfdt */

struct fdt_node {
	uint32_t at;         /* of the node in the structure block, as libfdt counts */
	uint32_t phandle;    /* 0 if it has none */
	uint16_t properties; /* how far they are behind `at` */
	uint16_t depth;      /* of the root: 0 */
	int8_t cells[2];     /* #address-cells and #size-cells, or an error, and FDT_NODE_CELLS; 0
	                      * until somebody asks */
	bool same;           /* addresses below this bus are known to be those above it */
	uint64_t names;      /* fdt_index_bit() of each of its properties */
	uint64_t kinds;      /* the same of each string of its property "compatible" */
};

/* The table of one tree. */
struct fdt_index {
	const void *tree;        /* NULL while the table is being made */
	uint32_t from, to;       /* its rows, among those of all trees */
	uint32_t block, strings; /* where nodes and names of properties are in the tree */
};

/* Returns a bit that stands for a name of `size` bytes, and for other names. */
uint64_t fdt_index_bit(const char *name, uint32_t size);

/* Returns the table's row of a node; NULL if the tree has no table, or no such node. The rows of a
 * tree's other nodes are behind it, in the order of the tree, up to fdt_index_end(). */
struct fdt_node *fdt_index_find(const void *tree, int node);
const struct fdt_node *fdt_index_end(const void *tree);

/* Returns a property of a row, like fdt_getprop_namelen(). The tree has been checked, so that
 * nothing in it is checked again. */
const void *fdt_index_property(const void *tree, const struct fdt_node *row, const char *name,
                               uint32_t size, int *length);

/* Whether a node has a row, and none of the properties with these bits. */
bool fdt_index_lacks(const void *tree, int node, uint64_t names);

/* Returns the next row of the tree, NULL after the last. */
struct fdt_node *fdt_index_next(const void *tree, struct fdt_node *row);

/* For fdt_check_full(). Begins the table of a tree; returns NULL if there is no room. Then adds
 * each node, in the order of the tree, which returns NULL if there is no more room, and notes the
 * properties of the last one: the bit of the name, and the value of `size` bytes. */
struct fdt_index *fdt_index_begin(const void *tree);
struct fdt_node *fdt_index_add(struct fdt_index *index, int at, int properties, uint32_t depth);
void fdt_index_note(struct fdt_node *node, uint64_t bit, const char *value, int size);

/* Whether only the name's bit, and not the value, is noted. */
bool fdt_index_ignores_value(uint64_t bit);

/* The tree has been copied to another place, where it is read from now on. */
void fdt_index_moved(const void *from, const void *to);

#endif
