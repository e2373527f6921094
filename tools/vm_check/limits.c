/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/limits.h"

#include <stdio.h>

#include "core/pmu/budget_hart.h"
#include "tools/vm_check/harts.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/pmu.h"
#include "tools/vm_check/tree.h"

#define QEMU_COUNTERS UINT64_C(0x7fffd)

/* Harts 0 to n - 1. */
static struct vm_harts first_harts(uint32_t n)
{
	struct vm_harts harts = {.n = n};

	for (uint32_t i = 0; i < n; i++)
		harts.ids[i] = i;
	return harts;
}

/* The host's tree and harts, for the function below. */
static const void *compared;
static struct vm_harts compared_harts;

/* Of what boot compares, that which the tree shows. */
static const char *differ(uint32_t hart, uint32_t other)
{
	return harts_alike(compared, compared_harts.ids[hart], compared_harts.ids[other])
	           ? NULL
	           : "harts # and # have different extensions";
}

static const char *compared_file;

/* Boot goes on. */
static void tell_broken(const char *name)
{
	fprintf(stderr, "vm-check: %s: %s: reg has cells that are no address and size\n",
	        compared_file, name);
}

static const char *unusable(uint64_t id)
{
	return hart_unused(compared, id);
}

static uint32_t guest_files(uint32_t hart)
{
	return tree_guest_files(compared, compared_harts.ids[hart]);
}

struct vm_limits limits_of(const struct options *o, size_t tree_size, struct vm_range *tree_at)
{
	struct vm_limits limits = {.hctrs = QEMU_COUNTERS};

	limits.ram =
	    one_bank(ram_begin(o), o->ram.size != RAM_NOT_GIVEN ? o->ram.size : 1ULL << 30);
	if (o->host) {
		size_t size;
		void *host = read_file(o->host, &size);
		const char *wrong = host_is_wrong(host, size);

		compared_file = o->host;
		if (!wrong)
			tree_broken_memory(host, tell_broken);
		if (!wrong)
			wrong = host_lacks(host);
		if (wrong)
			die(o->host, wrong);
		limits.host_tree = host;
		limits.hctrs = host_counters(host);
		compared = host;
		/* Other harts than the tree's cannot be compared. */
		limits.differ = o->harts ? NULL : differ;
		limits.unusable = o->harts ? NULL : unusable;
		limits.no_budget = o->harts ? NULL : budget_refusal;
		limits.guest_files = guest_files;
		limits.harts = host_harts(host);
		if (!limits.harts.n && !o->harts) {
			if (!o->json)
				print_harts(host);
			fflush(stdout);
			die(o->host, "has no hart that can run guests");
		}
		wrong = host_memory(host, &o->ram, tree_size, &limits.ram);
		if (wrong)
			die(o->host, wrong);
	}
	if (o->harts || !o->host)
		limits.harts = first_harts(o->harts ? o->harts : 1);
	if (o->counters != NOT_COUNTED)
		limits.hctrs = o->counters;
	compared_harts = limits.harts;
	*tree_at = tree_place(limits.host_tree, &o->ram, tree_size, &limits.ram);
	vm_guest_ranges(&limits.ram, tree_at, &limits.guests);
	return limits;
}
