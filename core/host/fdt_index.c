/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/fdt_index.h"

#include <libfdt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/lib/types.h"

#define TABLES 2U

/* Bits of names that are known exactly; others share the rest. */
#define BIT_COMPATIBLE    (1ULL << 0)
#define BIT_PHANDLE       (1ULL << 1)
#define BIT_LINUX_PHANDLE (1ULL << 2)
#define BIT_PHANDLE_OK    (1ULL << 3) /* it has 4 bytes */
#define OWN_BITS          4U

static struct fdt_node nodes[FDT_INDEX_NODES];
static struct fdt_index indexes[TABLES];

/* The last answers, by the offset that was asked for. */
#define ANSWERS 64U
static struct answer {
	const void *tree; /* NULL: none */
	struct fdt_node *row;
} answers[ANSWERS];

static inline struct answer *answer_of(uint32_t node)
{
	return &answers[node / FDT_TAGSIZE % ANSWERS];
}

static bool is(const char *name, uint32_t size, const char *known, uint32_t known_size)
{
	return size == known_size && memcmp(name, known, size) == 0;
}

uint64_t fdt_index_bit(const char *name, uint32_t size)
{
	uint32_t sum = size;

	if (is(name, size, "compatible", 10))
		return BIT_COMPATIBLE;
	if (is(name, size, "phandle", 7))
		return BIT_PHANDLE;
	if (is(name, size, "linux,phandle", 13))
		return BIT_LINUX_PHANDLE;
	if (size)
		sum +=
		    5U * (uint8_t)name[0] + 3U * (uint8_t)name[size / 2] + (uint8_t)name[size - 1];
	return 1ULL << (OWN_BITS + sum % (64 - OWN_BITS));
}

static struct fdt_index *index_of(const void *tree)
{
	for (uint32_t i = 0; i < TABLES; i++) {
		if (indexes[i].tree == tree)
			return &indexes[i];
	}
	return NULL;
}

const struct fdt_node *fdt_index_end(const void *tree)
{
	return &nodes[index_of(tree)->to];
}

static struct fdt_node *search_rows(const struct fdt_index *index, uint32_t node)
{
	uint32_t from = index->from, to = index->to;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (nodes[middle].at <= node)
			from = middle + 1;
		else
			to = middle;
	}
	return from > index->from && nodes[from - 1].at == node ? &nodes[from - 1] : NULL;
}

struct fdt_node *fdt_index_find(const void *tree, int node)
{
	struct answer *answer = answer_of((uint32_t)node);
	const struct fdt_index *index;
	struct fdt_node *row;

	if (tree && answer->tree == tree && answer->row->at == (uint32_t)node)
		return answer->row;
	index = index_of(tree);
	row = tree && index && node >= 0 ? search_rows(index, (uint32_t)node) : NULL;
	if (row)
		*answer = (struct answer){tree, row};
	return row;
}

bool fdt_index_lacks(const void *tree, int node, uint64_t names)
{
	const struct fdt_node *row = fdt_index_find(tree, node);

	return row && !(row->names & names);
}

struct fdt_node *fdt_index_next(const void *tree, struct fdt_node *row)
{
	if (++row == fdt_index_end(tree))
		return NULL;
	*answer_of(row->at) = (struct answer){tree, row}; /* a walk asks for it soon */
	return row;
}

static const uint8_t *bytes_at(const struct fdt_index *index, uint32_t at)
{
	return (const uint8_t *)index->tree + index->block + at;
}

static uint32_t raw(const uint8_t *at)
{
	return *(const uint32_t *)(const void *)at;
}

static uint32_t word(const uint8_t *at)
{
	return fdt32_to_cpu(raw(at));
}

/* Whether the property has this name. */
static inline bool is_called(const struct fdt_index *index, const uint8_t *property,
                             const char *name, uint32_t size)
{
	const char *own = (const char *)index->tree + index->strings +
	                  word(property + offsetof(struct fdt_property, nameoff));

	for (uint32_t i = 0; i < size; i++) {
		if (own[i] != name[i] || !own[i])
			return false;
	}
	return !own[size];
}

const void *fdt_index_property(const void *tree, const struct fdt_node *row, const char *name,
                               uint32_t size, int *length)
{
	const struct fdt_index *index = index_of(tree);
	const uint8_t *at = bytes_at(index, row->at) + row->properties;

	*length = -FDT_ERR_NOTFOUND;
	if (!(row->names & fdt_index_bit(name, size)))
		return NULL;
	for (uint32_t tag; (tag = raw(at)) == FDT_STORED(FDT_PROP) || tag == FDT_STORED(FDT_NOP);) {
		uint32_t bytes = 0;

		if (tag == FDT_STORED(FDT_PROP)) {
			bytes = word(at + offsetof(struct fdt_property, len));
			if (is_called(index, at, name, size)) {
				*length = (int)bytes;
				return at + sizeof(struct fdt_property);
			}
			at += sizeof(struct fdt_property) - FDT_TAGSIZE;
		}
		at += FDT_TAGSIZE + ALIGN_UP(bytes, (uint32_t)FDT_TAGSIZE);
	}
	return NULL;
}

void fdt_index_moved(const void *from, const void *to)
{
	struct fdt_index *index = index_of(from);

	if (index)
		index->tree = to;
	memset(answers, 0, sizeof(answers));
}

/* Begins a table, in the place of an earlier one of the same tree. NULL if there is no room. The
 * tables lie one behind the other, so that only the last can be made again. */
struct fdt_index *fdt_index_begin(const void *tree)
{
	struct fdt_index *index = index_of(tree);

	if (!index)
		index = index_of(NULL);
	/* Before this version values may be padded, and names are paths. */
	if (!index || fdt_version(tree) < 16)
		return NULL;
	index->tree = NULL;
	memset(answers, 0, sizeof(answers));
	if (index == &indexes[0] && indexes[1].tree)
		return NULL;
	index->block = fdt_off_dt_struct(tree);
	index->strings = fdt_off_dt_strings(tree);
	index->from = index->to = index == &indexes[0] ? 0 : indexes[0].to;
	return index;
}

struct fdt_node *fdt_index_add(struct fdt_index *index, int at, int properties, uint32_t depth)
{
	struct fdt_node *node = &nodes[index->to];

	if (index->to == FDT_INDEX_NODES || properties - at > UINT16_MAX || depth > UINT16_MAX)
		return NULL;
	index->to++;
	*node = (struct fdt_node){.at = (uint32_t)at,
	                          .properties = (uint16_t)(properties - at),
	                          .depth = (uint16_t)depth};
	return node;
}

static uint64_t kinds(const char *list, int size)
{
	uint64_t bits = 0;

	for (int at = 0, end; at < size; at = end + 1) {
		for (end = at; end < size && list[end]; end++)
			;
		bits |= fdt_index_bit(list + at, (uint32_t)(end - at));
	}
	return bits;
}

/* Notes a property in the row of its node. The first of several with the same name counts. */
void fdt_index_note(struct fdt_node *node, uint64_t bit, const char *value, int size)
{
	bool first = !(node->names & bit);

	node->names |= bit;
	if (!first)
		return;
	if (bit == BIT_COMPATIBLE)
		node->kinds = kinds(value, size);
	if (size != 4 || (bit != BIT_PHANDLE && bit != BIT_LINUX_PHANDLE) ||
	    (node->names & BIT_PHANDLE_OK))
		return;
	node->phandle = fdt32_ld((const fdt32_t *)(const void *)value);
	if (bit == BIT_PHANDLE)
		node->names |= BIT_PHANDLE_OK;
}

bool fdt_index_ignores_value(uint64_t bit)
{
	return !(bit & (BIT_COMPATIBLE | BIT_PHANDLE | BIT_LINUX_PHANDLE));
}
