/* SPDX-License-Identifier: Apache-2.0 */
/* Boot compares more, since it has tried the harts (core/hart/hart_kind.c): their counters and
 * events. The tree shows extensions, and the sizes of blocks. */
#include "tools/vm_check/harts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "arch/riscv/hart/isa.h"
#include "core/host/host_cpus.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/text.h"

enum use { USED, DISABLED, WITHOUT_H, NOT_NAMED, TOO_MANY };

/* Why a hart is not used, and why several are not. */
static const char *const why_one[] = {
    [DISABLED] = "the tree disables it",
    [WITHOUT_H] = "it has no H extension",
    [NOT_NAMED] = "a VM tree cannot name an id of more than 32 bits",
    [TOO_MANY] = "Tally runs on 64 harts at most",
};
static const char *const why_several[] = {
    [DISABLED] = "the tree disables them",
    [WITHOUT_H] = "they have no H extension",
    [NOT_NAMED] = "a VM tree cannot name an id of more than 32 bits",
    [TOO_MANY] = "Tally runs on 64 harts at most",
};
_Static_assert(VM_MAX_HARTS == 64, "the words above");

struct judged {
	struct host_hart hart;
	enum use use;
};

static bool is_used(const void *tree, uint64_t id)
{
	struct vm_harts used = host_harts(tree);

	return vm_hart(&used, id) < VM_MAX_HARTS;
}

/* Goes to the next hart. Returns false if there is none. */
static bool next(struct host_cpu *cpu, struct judged *judged)
{
	const struct host_hart *hart = &judged->hart;

	if (!host_hart_next(cpu, &judged->hart))
		return false;
	if (hart->disabled)
		judged->use = DISABLED;
	else if (!(hart->isa & BIT(ISA_H)))
		judged->use = WITHOUT_H;
	else if (hart->id > UINT32_MAX)
		judged->use = NOT_NAMED;
	else
		judged->use = is_used(cpu->tree, hart->id) ? USED : TOO_MANY;
	return true;
}

static bool same_blocks(const struct host_hart *a, const struct host_hart *b)
{
	return a->zicbom == b->zicbom && a->zicboz == b->zicboz && a->zicbop == b->zicbop;
}

static bool same_extensions(const struct host_hart *a, const struct host_hart *b)
{
	return a->isa == b->isa && same_blocks(a, b);
}

/* Of harts that are not used the reason is the kind. */
static bool same_kind(const struct judged *a, const struct judged *b)
{
	return a->use == b->use && (a->use != USED || same_extensions(&a->hart, &b->hart));
}

/* Whether no hart before this one is of its kind. */
static bool begins_group(const void *tree, const struct judged *judged)
{
	struct host_cpu cpu = host_cpus(tree);
	struct judged other;

	while (next(&cpu, &other) && other.hart.id != judged->hart.id) {
		if (same_kind(&other, judged))
			return false;
	}
	return true;
}

static void print_last(uint64_t first, uint64_t last)
{
	const char *end = range_end(first, last);
	char text[ID_BYTES];

	if (end)
		printf("%s%s", end, id_text(last, text));
}

/* Prints numbers as "0 to 7, 9". Returns how many there are. */
static uint32_t print_ids(const void *tree, const struct judged *like)
{
	struct host_cpu cpu = host_cpus(tree);
	uint64_t first = 0, last = 0;
	struct judged judged;
	char text[ID_BYTES];
	uint32_t n = 0;

	while (next(&cpu, &judged)) {
		uint64_t id = judged.hart.id;

		if (!same_kind(&judged, like))
			continue;
		if (n && id == last + 1) {
			last++;
		} else {
			print_last(first, last);
			printf("%s%s", n ? ", " : "", id_text(id, text));
			first = last = id;
		}
		n++;
	}
	print_last(first, last);
	return n;
}

static void print_why(enum use use, bool one)
{
	if (one)
		printf(" is not used: %s\n", why_one[use]);
	else
		printf(" are not used: %s\n", why_several[use]);
}

const char *hart_unused(const void *tree, uint64_t hartid)
{
	struct host_cpu cpu = host_cpus(tree);
	struct judged judged;

	while (next(&cpu, &judged)) {
		if (judged.hart.id == hartid)
			return why_one[judged.use];
	}
	return NULL;
}

/* Prints the names of extensions `from` to `to`, with a space before each. */
static void print_names(uint64_t isa, uint32_t from, uint32_t to)
{
	for (uint32_t e = from; e < to; e++) {
		if (isa & BIT(e))
			printf(" %s", isa_names[e]);
	}
}

/* What a hart has otherwise than the first one that is used. */
static void print_unlike(const struct host_hart *hart, const struct host_hart *first)
{
	uint64_t lacks = first->isa & ~hart->isa, more = hart->isa & ~first->isa;
	char text[ID_BYTES];

	printf("; unlike hart %s:", id_text(first->id, text));
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
	struct host_cpu cpu = host_cpus(tree);
	struct host_hart first = {0};
	const char *before = "harts";
	struct judged judged;

	while (next(&cpu, &judged)) {
		uint32_t n;

		if (!begins_group(tree, &judged))
			continue;
		printf("%-12s", before);
		before = "";
		n = print_ids(tree, &judged);
		if (judged.use != USED) {
			print_why(judged.use, n == 1);
			continue;
		}
		printf(n == 1 ? ":" : " are alike:");
		print_names(judged.hart.isa, 0, ISA_GUEST_FIRST);
		if (first.isa)
			print_unlike(&judged.hart, &first);
		else
			first = judged.hart;
		putchar('\n');
	}
}

/* Prints as JSON's strings. */
static void print_json_names(uint64_t isa)
{
	const char *between = "";

	for (uint32_t e = 0; e < ISA_EXTENSIONS; e++) {
		if (!(isa & BIT(e)))
			continue;
		printf("%s\"%s\"", between, isa_names[e]);
		between = ",";
	}
}

static void print_json_group(const void *tree, const struct judged *like)
{
	struct host_cpu cpu = host_cpus(tree);
	const char *between = "";
	struct judged judged;

	printf("{\"ids\":[");
	while (next(&cpu, &judged)) {
		if (!same_kind(&judged, like))
			continue;
		printf("%s%" PRIu64, between, judged.hart.id);
		between = ",";
	}
	printf("],\"used\":%s,\"extensions\":[", like->use == USED ? "true" : "false");
	if (like->use == USED)
		print_json_names(like->hart.isa);
	printf("]}");
}

void print_json_harts(const void *tree)
{
	struct host_cpu cpu = host_cpus(tree);
	const char *between = "";
	struct judged judged;

	printf("[");
	while (next(&cpu, &judged)) {
		if (!begins_group(tree, &judged))
			continue;
		printf("%s", between);
		print_json_group(tree, &judged);
		between = ",";
	}
	printf("]");
}

/* The hart with an id that is used. */
static struct host_hart hart_of(const void *tree, uint32_t id)
{
	struct host_cpu cpu = host_cpus(tree);
	struct host_hart hart;

	while (host_hart_next(&cpu, &hart)) {
		if (!hart.disabled && hart.id == id)
			return hart;
	}
	return (struct host_hart){0};
}

/* As boot finds the extensions of a guest (common_isa() of core/boot/vm_create.c). */
static uint64_t lacks_of(const void *tree, const struct vm_config *vm, const struct vm_harts *harts)
{
	struct host_hart first = hart_of(tree, harts->ids[vm->vcpus[0].first_hart]);
	uint64_t all = 0, common = UINT64_MAX;

	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		struct host_hart hart = hart_of(tree, harts->ids[vm->vcpus[i].first_hart]);

		all |= hart.isa;
		common &= hart.isa;
		if (!same_blocks(&hart, &first))
			common &= ~ISA_CBO;
	}
	return all & ~common;
}

void print_lacks(const void *tree, const struct vm_config *vm, const struct vm_harts *harts)
{
	uint64_t lacks = lacks_of(tree, vm, harts);

	if (!lacks)
		return;
	printf("  lacks    ");
	print_names(lacks, 0, ISA_EXTENSIONS);
	printf(": not all of its harts have %s alike\n", lacks & (lacks - 1) ? "them" : "it");
}

void print_json_lacks(const void *tree, const struct vm_config *vm, const struct vm_harts *harts)
{
	printf("\"lacks\":[");
	print_json_names(lacks_of(tree, vm, harts));
	printf("],");
}

bool harts_alike(const void *tree, uint64_t hartid, uint64_t other)
{
	struct host_cpu cpu = host_cpus(tree);
	struct host_hart hart, a = {0}, b = {0};

	while (host_hart_next(&cpu, &hart)) {
		if (hart.disabled)
			continue;
		if (hart.id == hartid)
			a = hart;
		if (hart.id == other)
			b = hart;
	}
	return same_extensions(&a, &b);
}
