/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libfdt that it defines weakly here (Makefile). A walk spends nearly all its time in
 * them: libfdt reads the header again, byte by byte, for each byte of a node's name, and measures
 * the name of each property that it passes. These make the same checks once for each tag and each
 * name. tests/host/test_fdt_walk.c compares them with libfdt's own.
 */
#include <libfdt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/host/fdt_index.h"
#include "core/lib/types.h"

#define BLOCK_MAX ((uint32_t)INT_MAX / 2) /* offsets are of type int */

/* Position of the structure block (nodes and properties), or of the names of properties. */
struct block {
	uint32_t at;
	uint32_t size; /* bytes of it that are inside the tree */
	bool padded;   /* before version 16 a long value begins at a multiple of 8 */
};

/* The block and the names of the tree that was read last, and the header from which they were
 * computed: boot walks through one tree at a time. */
static struct block last, last_names;
static struct fdt_header last_header;

static inline bool is_last(const struct fdt_header *header)
{
	return header->totalsize == last_header.totalsize &&
	       header->off_dt_struct == last_header.off_dt_struct &&
	       header->version == last_header.version &&
	       header->size_dt_struct == last_header.size_dt_struct;
}

/* A block ends within the tree, and from version 17 on within its own size. */
static struct block find_block(const struct fdt_header *header, fdt32_t start, fdt32_t size)
{
	uint32_t total = fdt32_to_cpu(header->totalsize), version = fdt32_to_cpu(header->version);
	struct block block = {.at = fdt32_to_cpu(start), .padded = version < 16};

	block.size = block.at < total ? total - block.at : 0;
	if (version >= 17 && fdt32_to_cpu(size) < block.size)
		block.size = fdt32_to_cpu(size);
	return block;
}

static __attribute__((noinline, cold)) void read_header(const struct fdt_header *header)
{
	last = find_block(header, header->off_dt_struct, header->size_dt_struct);
	if (last.size > BLOCK_MAX)
		last.size = BLOCK_MAX;
	last_names = find_block(header, header->off_dt_strings, header->size_dt_strings);
	if (fdt32_to_cpu(header->magic) != FDT_MAGIC || fdt32_to_cpu(header->totalsize) > INT_MAX ||
	    fdt32_to_cpu(header->version) < FDT_FIRST_SUPPORTED_VERSION ||
	    fdt32_to_cpu(header->last_comp_version) > FDT_LAST_SUPPORTED_VERSION)
		last_names.size = 0;
	last_header = *header;
}

static inline bool holds(struct block block, uint32_t offset, uint32_t length)
{
	return offset <= block.size && length <= block.size - offset;
}

const void *fdt_offset_ptr(const void *tree, int offset, unsigned int length)
{
	if (!is_last(tree))
		read_header(tree);
	if (offset < 0 || !holds(last, (uint32_t)offset, length))
		return NULL;
	return (const uint8_t *)tree + last.at + offset;
}

/* Returns the offset after the NUL of a name, or 0 if the name does not end. */
static inline uint32_t behind_name(struct block block, const uint8_t *bytes, uint32_t offset)
{
	while (offset < block.size) {
		if (!bytes[offset++])
			return offset;
	}
	return 0;
}

/* Returns the offset after a property, whose length is at `offset`, or 0 if it does not end. */
static inline uint32_t behind_property(struct block block, const uint8_t *bytes, uint32_t offset)
{
	uint32_t length;

	if (!holds(block, offset, sizeof(length)))
		return 0;
	length = fdt32_to_cpu(*(const fdt32_t *)(const void *)(bytes + offset));
	if (length >= (uint32_t)INT_MAX - offset)
		return 0;
	offset += 2 * FDT_TAGSIZE + length;
	if (block.padded && length >= 8 && (offset - length) % 8)
		offset += FDT_TAGSIZE;
	return offset;
}

static inline __attribute__((always_inline)) uint32_t tag_at(struct block block, const void *tree,
                                                             int start, int *next)
{
	const uint8_t *bytes = (const uint8_t *)tree + block.at;
	uint32_t offset = (uint32_t)start;
	fdt32_t tag;

	*next = -FDT_ERR_TRUNCATED;
	if (start < 0 || !holds(block, offset, FDT_TAGSIZE))
		return FDT_END;
	tag = *(const fdt32_t *)(const void *)(bytes + offset);
	*next = -FDT_ERR_BADSTRUCTURE;
	offset += FDT_TAGSIZE;
	if (tag == FDT_STORED(FDT_PROP))
		offset = behind_property(block, bytes, offset);
	else if (tag == FDT_STORED(FDT_BEGIN_NODE))
		offset = behind_name(block, bytes, offset);
	else if (tag != FDT_STORED(FDT_END_NODE) && tag != FDT_STORED(FDT_END) &&
	         tag != FDT_STORED(FDT_NOP))
		return FDT_END;
	if (!offset || offset > block.size)
		return FDT_END;
	*next = (int)ALIGN_UP(offset, (uint32_t)FDT_TAGSIZE);
	return tag >> FDT_STORED_SHIFT;
}

/* A function of its own, so that the common path makes no calls and keeps all values in its
 * caller's registers. */
static __attribute__((noinline, cold)) uint32_t tag_of_other(const void *tree, int start, int *next)
{
	read_header(tree);
	return tag_at(last, tree, start, next);
}

uint32_t fdt_next_tag(const void *tree, int start, int *next)
{
	if (!is_last(tree))
		return tag_of_other(tree, start, next);
	return tag_at(last, tree, start, next);
}

/* Returns the block of names. The tree's block of nodes was read last. */
static inline struct block names_of(const struct fdt_header *header)
{
	if (header->off_dt_strings != last_header.off_dt_strings ||
	    header->size_dt_strings != last_header.size_dt_strings ||
	    header->magic != last_header.magic ||
	    header->last_comp_version != last_header.last_comp_version)
		read_header(header);
	return last_names;
}

/* Returns the value of the property at this offset of the block. */
static const void *value_of(const struct fdt_property *property, uint32_t offset, int *length)
{
	*length = (int)fdt32_to_cpu(property->len);
	return property->data +
	       (last.padded && *length >= 8 && (offset + sizeof(*property)) % 8 ? FDT_TAGSIZE : 0);
}

/* Of a node without a row: as libfdt does it. */
static __attribute__((noinline, cold)) const void *
search(const void *tree, int node, const char *name, uint32_t size, int *length)
{
	const char *own;
	int at;

	fdt_for_each_property_offset(at, tree, node)
	{
		const void *value = fdt_getprop_by_offset(tree, at, &own, length);

		if (value && strlen(own) == size && memcmp(own, name, size) == 0)
			return value;
	}
	*length = at;
	return NULL;
}

const void *fdt_getprop_namelen(const void *tree, int node, const char *name, int size, int *length)
{
	static int unused;
	struct fdt_node *row = fdt_index_find(tree, node);

	length = length ? length : &unused;
	return row ? fdt_index_property(tree, row, name, (uint32_t)size, length)
	           : search(tree, node, name, (uint32_t)size, length);
}

const void *fdt_getprop(const void *tree, int node, const char *name, int *length)
{
	return fdt_getprop_namelen(tree, node, name, (int)strlen(name), length);
}

/* For fdt_check_full(), which asks for the name of each property. */
const void *fdt_getprop_by_offset(const void *tree, int offset, const char **name, int *length)
{
	const struct fdt_property *property;
	struct block names;
	int unused = 0, next;
	uint32_t at;

	length = length ? length : &unused;
	*length = -FDT_ERR_BADOFFSET;
	if (offset % (int)FDT_TAGSIZE || fdt_next_tag(tree, offset, &next) != FDT_PROP)
		return NULL;
	property = (const void *)((const uint8_t *)tree + last.at + (uint32_t)offset);
	at = fdt32_to_cpu(property->nameoff);
	names = names_of(tree);
	if (name && at >= names.size)
		return NULL;
	if (name && !memchr((const char *)tree + names.at + at, 0, names.size - at)) {
		*length = -FDT_ERR_TRUNCATED;
		return NULL;
	}
	if (name)
		*name = (const char *)tree + names.at + at;
	return value_of(property, (uint32_t)offset, length);
}

/* libfdt has these in a file with functions that change trees, which Tally does not need. */
static int find_cells(const void *tree, int node, const char *name, int otherwise)
{
	int length;
	const fdt32_t *cells = fdt_getprop(tree, node, name, &length);

	if (!cells)
		return length == -FDT_ERR_NOTFOUND ? otherwise : length;
	if (length != sizeof(*cells) || fdt32_to_cpu(*cells) > FDT_MAX_NCELLS)
		return -FDT_ERR_BADNCELLS;
	return (int)fdt32_to_cpu(*cells);
}

/* A bus is asked for them once for each node below it. */
static int known_cells(const void *tree, int node, bool size)
{
	struct fdt_node *row = fdt_index_find(tree, node);
	int cells = row ? row->cells[size] : 0;

	if (!cells) {
		cells = size ? find_cells(tree, node, "#size-cells", 1)
		             : find_cells(tree, node, "#address-cells", 2);
		if (row)
			row->cells[size] = (int8_t)(cells + FDT_NODE_CELLS);
		return cells;
	}
	return cells - FDT_NODE_CELLS;
}

int fdt_address_cells(const void *tree, int node)
{
	int cells = known_cells(tree, node, false);

	return cells ? cells : -FDT_ERR_BADNCELLS;
}

int fdt_size_cells(const void *tree, int node)
{
	return known_cells(tree, node, true);
}
