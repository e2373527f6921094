/* SPDX-License-Identifier: Apache-2.0 */
/* Boot compares more, since it has tried the harts (core/vm/hart_kind.c): their counters and
 * events. The tree shows extensions, and the sizes of blocks. */
#include "tools/vm_check_harts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "arch/riscv/isa.h"
#include "core/config/host_tree.h"
#include "tools/vm_check_host.h"

static bool same_kind(const struct host_hart *a, const struct host_hart *b)
{
	return a->isa == b->isa && a->zicbom == b->zicbom && a->zicboz == b->zicboz &&
	       a->zicbop == b->zicbop;
}

/* Whether no hart before this one is like it. */
static bool begins_group(const void *tree, const struct host_hart *hart)
{
	struct host_place place = host_place_root(tree);
	struct host_hart other;

	while (host_hart_next(&place, &other) && other.id != hart->id) {
		if (same_kind(&other, hart))
			return false;
	}
	return true;
}

/* Prints numbers as "0 to 7, 9". Returns how many there are. */
static uint32_t print_ids(const void *tree, const struct host_hart *like)
{
	struct host_place place = host_place_root(tree);
	uint64_t first = 0, last = 0;
	struct host_hart hart;
	uint32_t n = 0;

	while (host_hart_next(&place, &hart)) {
		if (!same_kind(&hart, like))
			continue;
		if (n && hart.id == last + 1) {
			last++;
		} else {
			if (n && last > first)
				printf(" to %" PRIu64, last);
			printf("%s%" PRIu64, n ? ", " : "", hart.id);
			first = last = hart.id;
		}
		n++;
	}
	if (last > first)
		printf(" to %" PRIu64, last);
	return n;
}

/* Prints the names of extensions `from` to `to`, with a space before each. */
static void print_names(uint64_t isa, uint32_t from, uint32_t to)
{
	for (uint32_t e = from; e < to; e++) {
		if (isa & BIT(e))
			printf(" %s", isa_name((enum isa_ext)e));
	}
}

/* What a hart has otherwise than the first one that is used. */
static void print_unlike(const struct host_hart *hart, const struct host_hart *first)
{
	uint64_t lacks = first->isa & ~hart->isa, more = hart->isa & ~first->isa;

	printf("; unlike hart %" PRIu64 ":", first->id);
	if (lacks)
		printf(" without");
	print_names(lacks, 0, ISA_EXTENSIONS);
	if (more)
		printf("%s with", lacks ? "," : "");
	print_names(more, 0, ISA_EXTENSIONS);
	if (!lacks && !more)
		printf(" other block sizes");
}

void print_harts(const void *tree)
{
	struct host_place place = host_place_root(tree);
	struct host_hart hart, first = {0};
	const char *before = "harts     ";

	while (host_hart_next(&place, &hart)) {
		uint32_t n;

		if (!begins_group(tree, &hart))
			continue;
		printf("%-12s", before);
		before = "";
		n = print_ids(tree, &hart);
		if (!(hart.isa & BIT(ISA_H))) {
			printf(n == 1 ? " is not used: it has no H extension\n"
			              : " are not used: they have no H extension\n");
			continue;
		}
		printf(n == 1 ? ":" : " are alike:");
		print_names(hart.isa, 0, ISA_GUEST_FIRST);
		if (first.isa)
			print_unlike(&hart, &first);
		else
			first = hart;
		putchar('\n');
	}
}

static void print_json_group(const void *tree, const struct host_hart *like)
{
	struct host_place place = host_place_root(tree);
	const char *between = "";
	struct host_hart hart;

	printf("{\"ids\":[");
	while (host_hart_next(&place, &hart)) {
		if (!same_kind(&hart, like))
			continue;
		printf("%s%" PRIu64, between, hart.id);
		between = ",";
	}
	printf("],\"used\":%s,\"extensions\":[", like->isa & BIT(ISA_H) ? "true" : "false");
	between = "";
	for (uint32_t e = 0; e < ISA_EXTENSIONS; e++) {
		if (!(like->isa & BIT(e)))
			continue;
		printf("%s\"%s\"", between, isa_name((enum isa_ext)e));
		between = ",";
	}
	printf("]}");
}

void print_json_harts(const void *tree)
{
	struct host_place place = host_place_root(tree);
	const char *between = "";
	struct host_hart hart;

	printf("[");
	while (host_hart_next(&place, &hart)) {
		if (!begins_group(tree, &hart))
			continue;
		printf("%s", between);
		print_json_group(tree, &hart);
		between = ",";
	}
	printf("]");
}

bool harts_alike(const void *tree, uint64_t hartid, uint64_t other)
{
	struct host_place place = host_place_root(tree);
	struct host_hart hart, a = {0}, b = {0};

	while (host_hart_next(&place, &hart)) {
		if (hart.id == hartid)
			a = hart;
		if (hart.id == other)
			b = hart;
	}
	return same_kind(&a, &b);
}
