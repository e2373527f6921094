/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations that keep a device tree well-formed, so that the fuzzer passes the first check:
 * properties are set, changed, moved and deleted, nodes added and deleted. libFuzzer does the
 * others, which mostly break the format.
 */
#include <string.h>

#include <libfdt.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_fdt.h"
#include "tests/host/chance.h"

#define ROOM 16384

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define ANY(c, list) ((list)[below(c, (uint32_t)words_in(list))])

/* A list of words ends with NULL. */
static size_t words_in(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

static int any_node(struct chance *c, const void *tree)
{
	int count = 0, node = 0, wanted;

	for (int n = 0; n >= 0; n = fdt_next_node(tree, n, NULL))
		count++;
	for (wanted = (int)below(c, (uint32_t)count); wanted > 0; wanted--)
		node = fdt_next_node(tree, node, NULL);
	return node;
}

/* Returns a property of a node; negative if it has none. */
static int any_property(struct chance *c, const void *tree, int node)
{
	int count = 0, prop, wanted;

	fdt_for_each_property_offset(prop, tree, node) count++;
	if (!count)
		return -1;
	prop = fdt_first_property_offset(tree, node);
	for (wanted = (int)below(c, (uint32_t)count); wanted > 0; wanted--)
		prop = fdt_next_property_offset(tree, prop);
	return prop;
}

static void set_property(struct chance *c, void *tree, int node)
{
	const char *name = ANY(c, fdt_words.props), *string = ANY(c, fdt_words.strings);
	uint8_t value[64];
	uint32_t n;

	switch (below(c, 5)) {
	case 0:
		fdt_setprop_string(tree, node, name, string);
		break;
	case 1:
		fdt_setprop_u64(tree, node, name,
		                (uint64_t)below(c, 8) << below(c, 64) | below(c, 2));
		break;
	case 2:
		n = 4 * below(c, 8);
		for (uint32_t i = 0; i < n; i++)
			value[i] = i % 4 < 3 && percent(c, 90) ? 0 : (uint8_t)below(c, 70);
		fdt_setprop(tree, node, name, value, (int)n);
		break;
	case 3:
		/* Memory: addresses and sizes, in and about the tests' RAM for guests. */
		for (n = 0; n < sizeof(value) && percent(c, 80); n += 16) {
			fdt64_st(value + n, 0x81e00000 + ((uint64_t)below(c, 68) << 21));
			fdt64_st(value + n + 8, (uint64_t)below(c, 20) << 21);
		}
		fdt_setprop(tree, node, name, value, (int)n);
		break;
	default:
		n = below(c, sizeof(value));
		for (uint32_t i = 0; i < n; i++)
			value[i] = (uint8_t)chance(c);
		fdt_setprop(tree, node, name, value, (int)n);
	}
}

static void change_property(struct chance *c, void *tree, int node, int prop)
{
	uint8_t value[256];
	const char *name;
	const void *data;
	int size;

	data = prop < 0 ? NULL : fdt_getprop_by_offset(tree, prop, &name, &size);
	if (!data || size < 0 || size > (int)sizeof(value) - 64)
		return;
	memcpy(value, data, (size_t)size);
	size = (int)LLVMFuzzerMutate(value, (size_t)size, sizeof(value));
	if (percent(c, 20))
		node = any_node(c, tree);
	fdt_setprop(tree, node, percent(c, 10) ? ANY(c, fdt_words.props) : name, value, size);
}

static void mutate(struct chance *c, void *tree)
{
	int node = any_node(c, tree);
	int prop = any_property(c, tree, node);
	const char *name;

	switch (below(c, 8)) {
	case 0:
		if (prop >= 0 && fdt_getprop_by_offset(tree, prop, &name, NULL))
			fdt_delprop(tree, node, name);
		break;
	case 1:
		fdt_add_subnode(tree, node, ANY(c, fdt_words.nodes));
		break;
	case 2:
		if (node > 0 && percent(c, 30))
			fdt_del_node(tree, node);
		break;
	case 3:
		if (node > 0)
			fdt_set_name(tree, node, ANY(c, fdt_words.nodes));
		break;
	case 4:
	case 5:
		set_property(c, tree, node);
		break;
	default:
		change_property(c, tree, node, prop);
	}
}

/* libfdt's check itself fails on trees of old versions. */
static bool is_tree(const uint8_t *data, size_t size)
{
	return size >= sizeof(struct fdt_header) && !fdt_check_header(data) &&
	       fdt_version(data) >= 17 && fdt_totalsize(data) <= size &&
	       fdt_off_dt_struct(data) % 4 == 0 && !fdt_check_full(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static uint64_t room[ROOM / 8];
	struct chance c = {chance_mix(seed)};
	uint32_t packed;

	if (percent(&c, 20) || size > ROOM / 2 || !is_tree(data, size) ||
	    fdt_open_into(data, room, ROOM))
		return LLVMFuzzerMutate(data, size, max_size);
	for (uint32_t n = 1 + below(&c, 3); n; n--)
		mutate(&c, room);
	if (fdt_pack(room))
		return LLVMFuzzerMutate(data, size, max_size);
	packed = fdt_totalsize(room);
	if (packed > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data, room, packed);
	return packed;
}
