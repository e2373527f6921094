/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two functions of libfdt that it defines weakly here (Makefile), because nearly all of its time is
 * spent in them: they read the header anew, byte by byte, for each byte of a node's name. These do
 * the same checks once for each tag. tests/host/test_fdt_walk.c compares them with libfdt's own.
 */
#include <libfdt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/lib/types.h"

#define BLOCK_MAX ((uint32_t)INT_MAX / 2) /* offsets are of type int */

/* A tag as it is in the tree. */
#define TAG_SHIFT 24
#define TAG(tag)  ((fdt32_t)(tag) << TAG_SHIFT)

/* What the header says of the block of nodes and properties. */
struct block {
	uint32_t at;
	uint32_t size; /* how much of it is inside of the tree */
	bool padded;   /* before version 16 a long value begins at a multiple of 8 */
};

/* Ends within the tree, and from version 17 on within the block's own size. */
static __attribute__((noinline)) struct block read_header(const struct fdt_header *header)
{
	uint32_t total = fdt32_to_cpu(header->totalsize);
	uint32_t version = fdt32_to_cpu(header->version);
	uint32_t own = fdt32_to_cpu(header->size_dt_struct);
	struct block block = {.at = fdt32_to_cpu(header->off_dt_struct), .padded = version < 16};

	block.size = block.at < total ? total - block.at : 0;
	if (version >= 17 && own < block.size)
		block.size = own;
	if (block.size > BLOCK_MAX)
		block.size = BLOCK_MAX;
	return block;
}

/* The same for the same header: boot walks through one tree at a time. */
static inline struct block block_of(const struct fdt_header *header)
{
	static struct fdt_header last;
	static struct block block;

	if (header->totalsize != last.totalsize || header->off_dt_struct != last.off_dt_struct ||
	    header->version != last.version || header->size_dt_struct != last.size_dt_struct) {
		block = read_header(header);
		last = *header;
	}
	return block;
}

static inline bool holds(struct block block, uint32_t offset, uint32_t length)
{
	return offset <= block.size && length <= block.size - offset;
}

const void *fdt_offset_ptr(const void *tree, int offset, unsigned int length)
{
	struct block block = block_of(tree);

	if (offset < 0 || !holds(block, (uint32_t)offset, length))
		return NULL;
	return (const uint8_t *)tree + block.at + offset;
}

/* The offset behind the NUL of a name. 0: it does not end. */
static inline uint32_t behind_name(struct block block, const uint8_t *bytes, uint32_t offset)
{
	while (offset < block.size) {
		if (!bytes[offset++])
			return offset;
	}
	return 0;
}

/* The offset behind a property, whose length is at `offset`. 0: it does not end. */
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

uint32_t fdt_next_tag(const void *tree, int start, int *next)
{
	struct block block = block_of(tree);
	const uint8_t *bytes = (const uint8_t *)tree + block.at;
	uint32_t offset = (uint32_t)start;
	fdt32_t tag;

	*next = -FDT_ERR_TRUNCATED;
	if (start < 0 || !holds(block, offset, FDT_TAGSIZE))
		return FDT_END;
	tag = *(const fdt32_t *)(const void *)(bytes + offset);
	*next = -FDT_ERR_BADSTRUCTURE;
	offset += FDT_TAGSIZE;
	if (tag == TAG(FDT_PROP))
		offset = behind_property(block, bytes, offset);
	else if (tag == TAG(FDT_BEGIN_NODE))
		offset = behind_name(block, bytes, offset);
	else if (tag != TAG(FDT_END_NODE) && tag != TAG(FDT_END) && tag != TAG(FDT_NOP))
		return FDT_END;
	if (!offset || offset > block.size)
		return FDT_END;
	*next = (int)ALIGN_UP(offset, (uint32_t)FDT_TAGSIZE);
	return tag >> TAG_SHIFT;
}
