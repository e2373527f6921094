/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of tools/vm-check in C: runs Tally's own parser on a compiled VM tree. Exit status: 0
 * accepted, 1 refused, 2 could not be checked.
 */
#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/host/host_memory.h"
#include "core/tree/parse.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_refusals.h"
#include "tools/vm_check/harts.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/limits.h"
#include "tools/vm_check/memory.h"
#include "tools/vm_check/options.h"
#include "tools/vm_check/pmu.h"
#include "tools/vm_check/schedule.h"
#include "tools/vm_check/text.h"
#include "tools/vm_check/vm_json.h"
#include "tools/vm_check/vm_text.h"

static void print_json_host(const void *host)
{
	if (!host)
		return;
	printf("\"harts\":");
	print_json_harts(host);
	printf(",\"console_input\":%s,", host_input_lacks(host) ? "false" : "true");
}

static void print_host(const void *host)
{
	if (!host)
		return;
	print_harts(host);
	if (host_input_lacks(host))
		printf("console input by %s\n", host_input_lacks(host));
}

/* Where the boot loader puts the VM tree. */
static struct vm_range tree_at;

static void print_accepted(const struct vm_tree *tree, const struct options *o,
                           const struct vm_limits *limits)
{
	uint64_t available = vm_ranges_sum(limits->guests.ranges, limits->guests.n);
	uint64_t sum = 0;

	if (o->json) {
		printf("{");
		print_json_host(limits->host_tree);
		if (tree->has_selectors)
			printf("\"core\":\"%s\",", tree->selectors.core);
		printf("\"vms\":[");
	} else {
		print_host(limits->host_tree);
		if (tree->has_selectors)
			print_selectors(&tree->selectors);
	}
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		sum += tree->vms[i].memory;
		if (o->json) {
			printf("%s", i ? "," : "");
			print_json_vm(tree, &tree->vms[i], limits);
		} else {
			print_vm(tree, &tree->vms[i], limits);
		}
	}
	for (uint32_t i = 0; i < tree->n_shared; i++)
		sum += vm_shared_room(&tree->shared[i]);
	if (o->json) {
		printf("],");
		print_json_schedules(tree);
		if (o->host)
			print_json_banks(tree, limits);
		print_json_tree_place(tree, limits, &tree_at);
		printf("\"guest_memory\":%" PRIu64 "}\n", available);
		return;
	}
	print_schedules(tree);
	if (o->host) {
		print_shared_places(tree);
		print_banks(tree, limits);
	}
	print_tree_place(tree, limits, &tree_at);
	printf("%" PRIu32 " VM%s, %s of the %s there are for VMs\n", tree->n_vms,
	       tree->n_vms == 1 ? "" : "s", human(sum), human(available));
}

static void print_refused(const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static void print_json_refused(const char *line)
{
	static bool begun;

	printf("%s", begun ? "," : "");
	begun = true;
	print_json_string(line);
	print_refused(line);
}

/* The parts of the first one, and all as lines. The blob is changed. */
static void print_all_refused(void *blob, size_t size, const struct vm_limits *limits,
                              struct vm_tree *tree, const struct vm_refusal *why, bool json)
{
	/* Of a refused tree no VM has anything. */
	static const struct vm_tree none;

	if (!json) {
		print_host(limits->host_tree);
		if (limits->host_tree)
			print_banks(&none, limits);
		vm_config_refusals(blob, size, limits, tree, print_refused);
		return;
	}
	printf("{");
	print_json_host(limits->host_tree);
	if (limits->host_tree)
		print_json_banks(&none, limits);
	printf("\"refusal\":{\"node\":");
	print_json_string(why->node);
	printf(",\"property\":");
	print_json_string(why->property);
	printf(",\"reason\":");
	print_json_string(why->reason);
	printf("},\"refusals\":[");
	vm_config_refusals(blob, size, limits, tree, print_json_refused);
	printf("]}\n");
}

/* The refusal of boot that comes before it reads the VM tree. Nothing in the tree can mend it. */
static int print_misplaced(const char *misplaced, bool json)
{
	char reason[128];

	snprintf(reason, sizeof(reason), "0x%" PRIx64 " %s", tree_at.from, misplaced);
	if (json)
		printf("{\"refusal\":{\"node\":\"/chosen\",\"property\":\"linux,initrd-start\","
		       "\"reason\":\"%s\"},\"refusals\":[\"/chosen: linux,initrd-start: %s\"]}\n",
		       reason, reason);
	fprintf(stderr, "/chosen: linux,initrd-start: %s\n", reason);
	return 1;
}

/* Whether a VM tree can be read at all. What is wrong with it is told later. */
static bool is_sound(const void *blob, size_t size)
{
	return size >= sizeof(struct fdt_header) && !fdt_check_header(blob) &&
	       fdt_totalsize(blob) <= size && !fdt_check_full(blob, size);
}

int main(int argc, char **argv)
{
	static struct vm_tree tree;
	struct options o = {.ram = {RAM_NOT_GIVEN, RAM_NOT_GIVEN, RAM_NOT_GIVEN},
	                    .counters = NOT_COUNTED};
	struct vm_limits limits;
	struct vm_refusal why;
	size_t size;
	void *blob;
	const char *misplaced;
	bool sound, accepted;

	parse_options(argc, argv, &o);
	blob = read_file(o.file, &size);
	limits = limits_of(&o, size, &tree_at);
	misplaced = host_memory_misplaced(limits.host_tree, &limits.ram, &limits.guests, &tree_at);
	if (misplaced)
		return print_misplaced(misplaced, o.json);
	sound = is_sound(blob, size);
	pmu_harts(&limits, sound && fdt_subnode_offset(blob, 0, "pmu") >= 0);
	/* What the host's /pmu lacks, boot may find. */
	if (sound && limits.host_tree && limits.hctrs && o.counters == NOT_COUNTED)
		limits.hctrs |= pmu_asked(blob);
	accepted = vm_config_parse(blob, size, &limits, &tree, &why);
	if (accepted)
		pmu_prepare(&tree);
	if (accepted)
		print_accepted(&tree, &o, &limits);
	else
		print_all_refused(blob, size, &limits, &tree, &why, o.json);
	free((void *)(uintptr_t)limits.host_tree);
	free(blob);
	return accepted ? 0 : 1;
}
