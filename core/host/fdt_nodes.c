/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libfdt that it defines weakly here (Makefile): fdt_check_full() also makes the table
 * of the tree's nodes, and the others read it. tests/host/test_fdt_walk.c compares them with
 * libfdt's own.
 */
#include <libfdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/host/fdt_index.h"

/* Names of properties that fdt_check_full() has checked in this tree: it need not look for the end
 * of each name again. By the lower bits of their offsets. */
#define CHECKED 128U
static struct checked_name {
	uint32_t offset;
	uint64_t bit; /* 0: no name is here */
} checked[CHECKED];

/* Checks a property, and notes it if its node has a row. Returns 0 or an error. */
static int check_property(const void *tree, const char *block, int at, struct fdt_node *node)
{
	const struct fdt_property *property = (const void *)(block + at);
	struct checked_name *memo = &checked[fdt32_ld(&property->nameoff) % CHECKED];
	bool known = memo->bit && memo->offset == fdt32_ld(&property->nameoff);
	const char *name = "", *value;
	int size;

	if (known && (!node || fdt_index_ignores_value(memo->bit))) {
		if (node)
			node->names |= memo->bit;
		return 0;
	}
	value = fdt_getprop_by_offset(tree, at, known ? NULL : &name, &size);
	if (!value)
		return size;
	if (!known)
		memo->bit = fdt_index_bit(name, (uint32_t)strlen(name));
	memo->offset = fdt32_ld(&property->nameoff);
	if (node)
		fdt_index_note(node, memo->bit, value, size);
	return 0;
}

static int check_root(const void *tree, int at)
{
	int size;
	const char *name = fdt_get_name(tree, at, &size);

	if (!name)
		return size;
	return size ? -FDT_ERR_BADSTRUCTURE : 0;
}

/* Checks each tag, and fills the table if there is one; it is NULL if the tree does not fit. */
static int check_tags(const void *tree, struct fdt_index **table)
{
	const char *block = fdt_offset_ptr(tree, 0, 0);
	struct fdt_node *node = NULL; /* whose properties are being read */
	uint32_t depth = 0;
	bool ends = false;
	int next = 0, error = 0;

	for (int at = 0; !error; at = next) {
		uint32_t tag = fdt_next_tag(tree, at, &next);

		if (next < 0)
			return next;
		if (tag == FDT_END)
			return depth ? -FDT_ERR_BADSTRUCTURE : 0;
		if (ends || (tag == FDT_END_NODE && !depth))
			return -FDT_ERR_BADSTRUCTURE;
		if (tag == FDT_PROP) {
			error = check_property(tree, block, at, node);
		} else if (tag == FDT_BEGIN_NODE) {
			error = depth ? 0 : check_root(tree, at);
			node = *table ? fdt_index_add(*table, at, next, depth) : NULL;
			*table = node ? *table : NULL;
			depth++;
		} else if (tag == FDT_END_NODE) {
			node = NULL;
			ends = !--depth;
		}
	}
	return error;
}

int fdt_check_full(const void *tree, size_t size)
{
	struct fdt_index *table;
	int error;

	if (size < FDT_V1_SIZE || size < fdt_header_size(tree))
		return -FDT_ERR_TRUNCATED;
	error = fdt_check_header(tree);
	if (error)
		return error;
	if (size < fdt_totalsize(tree))
		return -FDT_ERR_TRUNCATED;
	error = fdt_num_mem_rsv(tree);
	if (error < 0)
		return error;
	table = fdt_index_begin(tree);
	memset(checked, 0, sizeof(checked));
	error = check_tags(tree, &table);
	if (!error && table)
		table->tree = tree;
	return error;
}

/* Reads tags up to the next node, or to the end of the node that *depth counts from. */
static int next_node(const void *tree, int node, int *depth)
{
	int next = 0;

	if (node >= 0 &&
	    (node % (int)FDT_TAGSIZE || fdt_next_tag(tree, node, &next) != FDT_BEGIN_NODE))
		return -FDT_ERR_BADOFFSET;
	for (int at = next;; at = next) {
		uint32_t tag = fdt_next_tag(tree, at, &next);

		if (tag == FDT_BEGIN_NODE && depth)
			++*depth;
		if (tag == FDT_BEGIN_NODE)
			return at;
		if (tag == FDT_END_NODE && depth && --*depth < 0)
			return next;
		if (tag == FDT_END)
			return next >= 0 || (next == -FDT_ERR_TRUNCATED && !depth)
			           ? -FDT_ERR_NOTFOUND
			           : next;
	}
}

int fdt_next_node(const void *tree, int node, int *depth)
{
	struct fdt_node *row = fdt_index_find(tree, node < 0 ? 0 : node);
	const struct fdt_node *next = row && node >= 0 ? fdt_index_next(tree, row) : NULL;

	if (row && node < 0) {
		if (depth)
			++*depth;
		return 0;
	}
	/* It ends earlier if the node that *depth counts from does. */
	if (!next || (depth && *depth + (int)next->depth <= (int)row->depth))
		return next_node(tree, node, depth);
	if (depth)
		*depth += (int)next->depth - (int)row->depth;
	return (int)next->at;
}

int fdt_node_offset_by_phandle(const void *tree, uint32_t phandle)
{
	const struct fdt_node *row = fdt_index_find(tree, 0);
	int node = -1;

	if (!phandle || phandle == UINT32_MAX)
		return -FDT_ERR_BADPHANDLE;
	for (const struct fdt_node *end = row ? fdt_index_end(tree) : NULL; row < end; row++) {
		if (row->phandle == phandle)
			return (int)row->at;
	}
	if (fdt_index_find(tree, 0))
		return -FDT_ERR_NOTFOUND;
	do
		node = fdt_next_node(tree, node, NULL);
	while (node >= 0 && fdt_get_phandle(tree, node) != phandle);
	return node;
}

static bool is_compatible(const void *tree, int node, const char *compatible)
{
	int size;
	const char *list = fdt_getprop(tree, node, "compatible", &size);

	return list && fdt_stringlist_contains(list, size, compatible);
}

int fdt_node_offset_by_compatible(const void *tree, int after, const char *compatible)
{
	uint64_t bit = fdt_index_bit(compatible, (uint32_t)strlen(compatible));
	const struct fdt_node *row = fdt_index_find(tree, after < 0 ? 0 : after);
	const struct fdt_node *end = row ? fdt_index_end(tree) : NULL;
	int node = after;

	if (row && after >= 0)
		row++;
	for (; row < end; row++) {
		if (row->kinds & bit && is_compatible(tree, (int)row->at, compatible))
			return (int)row->at;
	}
	if (end)
		return -FDT_ERR_NOTFOUND;
	do
		node = fdt_next_node(tree, node, NULL);
	while (node >= 0 && !is_compatible(tree, node, compatible));
	return node;
}

/* libfdt finds parents and paths by this. */
int fdt_supernode_atdepth_offset(const void *tree, int node, int depth, int *own)
{
	const struct fdt_node *row = fdt_index_find(tree, node);
	int at = -1, level = -1, found = -FDT_ERR_NOTFOUND;

	if (depth < 0)
		return -FDT_ERR_NOTFOUND;
	if (row) {
		*(own ? own : &level) = (int)row->depth;
		if (depth > (int)row->depth)
			return -FDT_ERR_NOTFOUND;
		while ((int)row->depth > depth)
			row--;
		return (int)row->at;
	}
	do {
		at = fdt_next_node(tree, at, &level);
		if (level == depth)
			found = at;
	} while (at >= 0 && at < node);
	if (at >= 0 && at != node)
		return -FDT_ERR_BADOFFSET;
	if (at < 0)
		return at == -FDT_ERR_NOTFOUND ? -FDT_ERR_BADOFFSET : at;
	*(own ? own : &level) = level;
	return depth > level ? -FDT_ERR_NOTFOUND : found;
}
