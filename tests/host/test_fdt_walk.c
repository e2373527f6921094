/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally has instead of some functions of libfdt says the same as these, at each offset of
 * trees that are whole, cut, of an older version, or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/chance.h"

#define fdt_offset_ptr                tally_offset_ptr
#define fdt_next_tag                  tally_next_tag
#define fdt_getprop                   tally_getprop
#define fdt_getprop_namelen           tally_getprop_namelen
#define fdt_getprop_by_offset         tally_getprop_by_offset
#define fdt_address_cells             tally_address_cells
#define fdt_size_cells                tally_size_cells
#define fdt_check_full                tally_check_full
#define fdt_next_node                 tally_next_node
#define fdt_node_offset_by_phandle    tally_node_offset_by_phandle
#define fdt_node_offset_by_compatible tally_node_offset_by_compatible
#define fdt_supernode_atdepth_offset  tally_supernode_atdepth_offset
const void *tally_offset_ptr(const void *tree, int offset, unsigned int length);
uint32_t tally_next_tag(const void *tree, int start, int *next);
const void *tally_getprop(const void *tree, int node, const char *name, int *length);
const void *tally_getprop_namelen(const void *tree, int node, const char *name, int size,
                                  int *length);
const void *tally_getprop_by_offset(const void *tree, int offset, const char **name, int *length);
int tally_address_cells(const void *tree, int node);
int tally_size_cells(const void *tree, int node);
int tally_check_full(const void *tree, size_t size);
int tally_next_node(const void *tree, int node, int *depth);
int tally_node_offset_by_phandle(const void *tree, uint32_t phandle);
int tally_node_offset_by_compatible(const void *tree, int after, const char *compatible);
int tally_supernode_atdepth_offset(const void *tree, int node, int depth, int *own);
#include "core/host/fdt_index.c"
#include "core/host/fdt_walk.c"
/* After fdt_walk.c, whose functions it calls. */
#include "core/host/fdt_nodes.c"
#undef fdt_offset_ptr
#undef fdt_next_tag
#undef fdt_getprop
#undef fdt_getprop_namelen
#undef fdt_getprop_by_offset
#undef fdt_address_cells
#undef fdt_size_cells
#undef fdt_check_full
#undef fdt_next_node
#undef fdt_node_offset_by_phandle
#undef fdt_node_offset_by_compatible
#undef fdt_supernode_atdepth_offset

#define TREES 20000U

static _Alignas(8) uint8_t tree[1024];

static void build(void)
{
	static const char long_name[] = "a-node-with-a-name-that-is-long@12345678";

	memset(tree, 0, sizeof(tree));
	assert_int_equal(fdt_create(tree, sizeof(tree)), 0);
	fdt_finish_reservemap(tree);
	fdt_begin_node(tree, "");
	fdt_property_string(tree, "compatible", "board");
	fdt_property_u32(tree, "cells", 2);
	fdt_property_u64(tree, "bytes", 8);
	fdt_property_u32(tree, "linux,phandle", 7);
	fdt_begin_node(tree, long_name);
	fdt_property(tree, "compatible", "some\0board", 11);
	fdt_property_u32(tree, "linux,phandle", 9);
	fdt_property_u32(tree, "phandle", 5);
	fdt_property(tree, "empty", NULL, 0);
	fdt_property(tree, "odd", "odd", 3);
	fdt_end_node(tree);
	fdt_begin_node(tree, "b");
	fdt_property_u32(tree, "cells", 3);
	fdt_property_u32(tree, "#address-cells", 3);
	fdt_property_u32(tree, "#size-cells", 0);
	fdt_property(tree, "compatible", "board", 5); /* without a NUL */
	fdt_property(tree, "phandle", "12", 2);
	fdt_property_u32(tree, "linux,phandle", 6);
	fdt_begin_node(tree, "c");
	fdt_end_node(tree);
	fdt_end_node(tree);
	fdt_end_node(tree);
	assert_int_equal(fdt_finish(tree), 0);
}

/* Versions of libfdt before 1.7 let such a length come round to a small offset. */
static bool is_huge(int at)
{
	return at >= 0 && fdt_off_dt_struct(tree) + (uint32_t)at + 8 <= sizeof(tree) &&
	       fdt32_ld((fdt32_t *)(void *)(tree + fdt_off_dt_struct(tree) + at + 4)) >
	           INT_MAX - sizeof(tree);
}

/* Whole names, the beginning of one, the end of one, and none. */
static void compare_values(int at)
{
	static const char *const wanted[] = {"compatible", "cells", "bytes", "empty",
	                                     "odd",        "ells",  "cell",  ""};

	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		int mine = 0, theirs = 0, part = (int)strlen(wanted[i]) / 2;

		assert_ptr_equal(tally_getprop(tree, at, wanted[i], &mine),
		                 fdt_getprop(tree, at, wanted[i], &theirs));
		assert_int_equal(mine, theirs);
		assert_ptr_equal(tally_getprop_namelen(tree, at, wanted[i], part, NULL),
		                 fdt_getprop_namelen(tree, at, wanted[i], part, NULL));
	}
	assert_int_equal(tally_address_cells(tree, at), fdt_address_cells(tree, at));
	assert_int_equal(tally_size_cells(tree, at), fdt_size_cells(tree, at));
}

static void compare_property(int at)
{
	const char *my_name = NULL, *their_name = NULL;
	int mine = 0, theirs = 0;
	const void *value = fdt_getprop_by_offset(tree, at, &their_name, &theirs);

	assert_ptr_equal(tally_getprop_by_offset(tree, at, &my_name, &mine), value);
	assert_ptr_equal(tally_getprop_by_offset(tree, at, NULL, NULL),
	                 fdt_getprop_by_offset(tree, at, NULL, NULL));
	if (value)
		assert_ptr_equal(my_name, their_name);
	if (value || fdt_check_header(tree) == 0)
		assert_int_equal(mine, theirs);
	assert_true(value || mine < 0);
}

/* The next node from each offset, at each depth. */
static void compare_next(int at)
{
	for (int depth = -1; depth < 3; depth++) {
		int mine = depth, theirs = depth;

		assert_int_equal(tally_next_node(tree, at, &mine),
		                 fdt_next_node(tree, at, &theirs));
		assert_int_equal(mine, theirs);
	}
	assert_int_equal(tally_next_node(tree, at, NULL), fdt_next_node(tree, at, NULL));
}

/* Callers name a node. */
static void compare_parents(int at)
{
	for (int depth = -1; depth < 4; depth++) {
		int mine = 9, theirs = 9;

		assert_int_equal(tally_supernode_atdepth_offset(tree, at, depth, &mine),
		                 fdt_supernode_atdepth_offset(tree, at, depth, &theirs));
		assert_int_equal(mine, theirs);
	}
}

static void compare_nodes(void)
{
	static const char *const kinds[] = {"board", "some", "boar", "none"};
	static const uint32_t phandles[] = {0, 5, 6, 7, 8, 9, UINT32_MAX};

	for (uint32_t i = 0; i < sizeof(phandles) / sizeof(*phandles); i++)
		assert_int_equal(tally_node_offset_by_phandle(tree, phandles[i]),
		                 fdt_node_offset_by_phandle(tree, phandles[i]));
	for (int at = fdt_next_node(tree, -1, NULL); at >= 0; at = fdt_next_node(tree, at, NULL))
		compare_parents(at);
	for (int at = -1; at < (int)fdt_size_dt_struct(tree); at++) {
		for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			assert_int_equal(tally_node_offset_by_compatible(tree, at, kinds[i]),
			                 fdt_node_offset_by_compatible(tree, at, kinds[i]));
	}
}

static void forget_tables(void)
{
	memset(indexes, 0, sizeof(indexes));
	memset(answers, 0, sizeof(answers));
}

static bool has_root_name(void)
{
	int at = 0, next;

	while (fdt_next_tag(tree, at, &next) != FDT_BEGIN_NODE)
		at = next;
	return *fdt_get_name(tree, at, NULL);
}

/* Boot walks only through trees that fdt_check_full() has passed, and these have a table. Returns
 * whether the tree has. */
static bool make_table(void)
{
	int error = fdt_check_full(tree, sizeof(tree));
	int mine;

	forget_tables();
	mine = tally_check_full(tree, sizeof(tree));
	/* Versions of libfdt before 1.7 let the root have a name. */
	if (error != mine && mine == -FDT_ERR_BADSTRUCTURE && has_root_name())
		error = mine;
	assert_int_equal(mine, error);
	/* The root may follow other tags; such a tree is read as without a table. */
	assert_true(!fdt_index_find(tree, 0) || !error);
	return fdt_index_find(tree, 0);
}

/* Returns how many tags there are. */
static uint32_t compare(void)
{
	uint32_t tags = 0;
	bool huge = false;

	/* libfdt reads a tag at an offset that is aligned to 4 bytes only. */
	for (int at = -8; at < (int)sizeof(tree); at += 4) {
		int mine = 0, theirs = 0;
		uint32_t tag = fdt_next_tag(tree, at, &theirs);

		if (tag == FDT_PROP && is_huge(at)) {
			huge = true;
			tag = FDT_END;
			theirs = -FDT_ERR_BADSTRUCTURE;
		}
		assert_int_equal(tally_next_tag(tree, at, &mine), tag);
		assert_int_equal(mine, theirs);
		tags += tag != FDT_END;
	}
	forget_tables();
	do {
		for (int at = -8; at < (int)sizeof(tree) / 2 && !huge; at += at < 8 ? 1 : 4)
			compare_values(at), compare_property(at), compare_next(at);
		if (!huge && fdt_check_full(tree, sizeof(tree)) == 0)
			compare_nodes();
	} while (!huge && !fdt_index_find(tree, 0) && make_table());
	for (int at = -2; at < (int)sizeof(tree); at++) {
		for (uint32_t length = 0; length < 3; length++)
			assert_ptr_equal(tally_offset_ptr(tree, at, length),
			                 fdt_offset_ptr(tree, at, length));
		assert_ptr_equal(tally_offset_ptr(tree, at, UINT32_MAX - 2),
		                 fdt_offset_ptr(tree, at, UINT32_MAX - 2));
	}
	return tags;
}

static void whole(void **state)
{
	(void)state;
	build();
	assert_true(compare() >= 12);
	assert_true(fdt_index_find(tree, 0));
}

static void cut(void **state)
{
	uint32_t from;

	(void)state;
	build();
	from = fdt_off_dt_struct(tree);
	for (uint32_t size = from; size < fdt_totalsize(tree); size++) {
		build();
		fdt_set_totalsize(tree, size);
		compare();
		build();
		fdt_set_size_dt_struct(tree, size - from);
		compare();
	}
	for (uint32_t size = 0; size < 40; size++) {
		build();
		fdt_set_size_dt_strings(tree, size);
		compare();
	}
}

/* Numbers of cells that are none. */
static void numbers_of_cells(void **state)
{
	static const uint32_t values[] = {0, 1, 2, 4, 5, 0x7fffffff, 0x80000000};

	(void)state;
	for (uint32_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		build();
		fdt_setprop_inplace_u32(tree, fdt_subnode_offset(tree, 0, "b"), "#address-cells",
		                        values[i]);
		fdt_setprop_inplace_u32(tree, fdt_subnode_offset(tree, 0, "b"), "#size-cells",
		                        values[i]);
		compare();
		fdt_nop_property(tree, fdt_subnode_offset(tree, 0, "b"), "#size-cells");
		compare();
	}
}

/* Trees that libfdt finds no names in. */
static void strange(void **state)
{
	(void)state;
	build();
	fdt_set_magic(tree, 0);
	compare();
	build();
	fdt_set_last_comp_version(tree, 18);
	compare();
	build();
	fdt_set_version(tree, 1);
	compare();
}

/* Older ones do not say how large the block is, and pad what is in it. */
static void older(void **state)
{
	(void)state;
	for (uint32_t version = 1; version < 18; version++) {
		build();
		fdt_set_version(tree, version);
		compare();
	}
}

/* A few words are those that are likely to be wrong in the same way. */
static void damaged(void **state)
{
	static const uint32_t words[] = {0,          1,          2,          3,          4, 9,
	                                 0x7fffffff, 0x7ffffff0, 0x80000000, 0xffffffff, 8, 16};
	struct chance c = {1};
	uint64_t tags = 0;

	(void)state;
	for (uint32_t i = 0; i < TREES; i++) {
		uint32_t from, size;

		build();
		from = fdt_off_dt_struct(tree);
		size = fdt_size_dt_struct(tree);
		for (uint32_t n = below(&c, 4) + 1; n; n--) {
			uint32_t at = from + below(&c, size / 4) * 4;

			if (percent(&c, 50))
				tree[at + below(&c, 4)] = (uint8_t)chance(&c);
			else
				fdt32_st(tree + at,
				         words[below(&c, sizeof(words) / sizeof(*words))]);
		}
		if (percent(&c, 30))
			fdt_set_version(tree, below(&c, 20));
		tags += compare();
	}
	assert_true(tags > TREES * 10UL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole),   cmocka_unit_test(cut),
	    cmocka_unit_test(strange), cmocka_unit_test(numbers_of_cells),
	    cmocka_unit_test(older),   cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
