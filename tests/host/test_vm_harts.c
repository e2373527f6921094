/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser on machines with many harts, whose ids are any numbers in any order: masks
 * are by index, words by id. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/vm_tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

/* Two clusters. The boot hart is in the second one. */
static struct vm_limits clusters(void)
{
	struct vm_limits limits = test_limits;

	limits.harts = (struct vm_harts){5, {0x101, 0, UINT32_MAX, 0x100, 1}};
	limits.differ = NULL;
	return limits;
}

static void *tree_of_clusters(void)
{
	const uint32_t both[] = {cpu_to_fdt32(0x100), cpu_to_fdt32(1)};
	void *t = good_tree();

	set_bytes(t, ALPHA "/vcpu0", "harts", both, sizeof(both));
	set_u32(t, ALPHA "/vcpu1", "harts", UINT32_MAX);
	set_u32(t, BETA "/vcpu0", "harts", 0x101);
	return t;
}

static void masks_are_by_index(void **state)
{
	struct vm_limits limits = clusters();
	const struct vm_tree *tree = accepted_on(&limits, tree_of_clusters());

	(void)state;
	assert_int_equal(tree->vms[0].vcpus[0].harts, 1 << 3 | 1 << 4);
	assert_int_equal(tree->vms[0].vcpus[0].first_hart, 3);
	assert_int_equal(tree->vms[0].vcpus[1].harts, 1 << 2);
	assert_int_equal(tree->vms[0].vcpus[1].first_hart, 2);
	assert_int_equal(tree->vms[1].vcpus[0].harts, 1 << 0);
}

/* Those that there are only as indexes, and neighbours of ids. */
static void ids_that_are_none(void **state)
{
	static const uint32_t ids[] = {2, 3, 4, 63, 64, 0xff, 0x102, UINT32_MAX - 1};
	struct vm_limits limits = clusters();
	void *t = tree_of_clusters();

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[80];

		set_u32(t, BETA "/vcpu0", "harts", ids[i]);
		snprintf(text, sizeof(text), BETA "/vcpu0: harts: this machine has no hart %u",
		         ids[i]);
		refused_on(&limits, t, VM_REFUSED_HART, text);
	}
	set_bytes(t, BETA "/vcpu0", "harts", "\0\0\1\1\0\0\0\0\0\0\1\1", 12);
	refused_on(&limits, t, VM_REFUSED_DUPLICATE, BETA "/vcpu0: harts: names 257 twice");
}

static const char *three_is_none(uint64_t id)
{
	return id == 3 || id > UINT32_MAX ? "it has no H extension" : NULL;
}

/* Those that there are, and that VMs cannot have. */
static void ids_of_unusable_harts(void **state)
{
	struct vm_limits limits = clusters();
	void *t = tree_of_clusters();

	(void)state;
	limits.unusable = three_is_none;
	set_u32(t, BETA "/vcpu0", "harts", 2);
	refused_on(&limits, t, VM_REFUSED_HART, BETA "/vcpu0: harts: this machine has no hart 2");
	set_u32(t, BETA "/vcpu0", "harts", 3);
	refused_on(&limits, t, VM_REFUSED_HART,
	           BETA "/vcpu0: harts: hart 3 cannot be used: it has no H extension");
	set_u32(t, BETA "/vcpu0", "harts", 0x101);
	node(t, "/schedules");
	node(t, "/schedules/hart4294967296");
	refused_on(&limits, t, VM_REFUSED_HART,
	           "/schedules/hart4294967296: hart 4294967296 cannot be used: it has no H "
	           "extension");
}

static const char *kinds(uint32_t hart, uint32_t other)
{
	return hart != other ? "harts # and # have different extensions" : NULL;
}

static const char *none_counts(uint64_t harts, uint32_t event_idx)
{
	(void)event_idx;
	return harts == 1 << 0 ? "asked of the first alone" : NULL;
}

static uint32_t no_files(uint32_t hart)
{
	return hart == 0 ? 0 : 3;
}

/* Functions of the machine get indexes. */
static void refusals_name_ids(void **state)
{
	const uint32_t budget[] = {cpu_to_fdt32(1), cpu_to_fdt32(1000), cpu_to_fdt32(1000)};
	struct vm_limits limits = clusters();
	void *t = tree_of_clusters();

	(void)state;
	limits.differ = kinds;
	refused_on(&limits, t, VM_REFUSED_HARTS,
	           ALPHA "/vcpu0: harts: harts 256 and 1 have different extensions");
	limits.differ = NULL;
	limits.no_budget = none_counts;
	limits.guest_files = no_files;
	set_bytes(t, BETA, "budget", budget, sizeof(budget));
	refused_on(&limits, t, VM_REFUSED_EVENT, BETA ": budget: asked of the first alone");
	delete_prop(t, BETA, "budget");
	set_string(t, BETA, "interrupts", "aia");
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           BETA ": interrupts: \"aia\": hart 257 has no guest interrupt files");
}

/* Of several harts the one with the lowest id is named, wherever it is in the table. */
static void the_lowest_id_is_named(void **state)
{
	const uint32_t both[] = {cpu_to_fdt32(0x101), cpu_to_fdt32(0x100), cpu_to_fdt32(1)};
	struct vm_limits limits = clusters();
	void *t = tree_of_clusters();

	(void)state;
	set_bytes(t, BETA "/vcpu0", "harts", both, sizeof(both));
	set_string(t, ALPHA, "pmu-freeze", "vcpu");
	refused_on(&limits, t, VM_REFUSED_SHARED,
	           ALPHA ": pmu-freeze: \"vcpu\" is for a VM alone on its harts, and another may "
	                 "run on hart 1");
}

static void schedules_have_ids(void **state)
{
	struct vm_limits limits = clusters();
	const struct vm_tree *tree;
	void *t = tree_of_clusters();

	(void)state;
	node(t, "/schedules");
	node(t, "/schedules/hart257");
	set_u32(t, "/schedules/hart257", "major-frame-us", 10000);
	node(t, "/schedules/hart257/window0");
	set_string(t, "/schedules/hart257/window0", "vm", "beta");
	set_u32(t, "/schedules/hart257/window0", "start-us", 0);
	set_u32(t, "/schedules/hart257/window0", "length-us", 1000);
	tree = accepted_on(&limits, t);
	assert_int_equal(tree->schedules[0].hart, 0);
	assert_int_equal(tree->schedules[0].id, 0x101);
	set_string(t, "/schedules/hart257/window0", "vm", "alpha");
	refused_on(&limits, t, VM_REFUSED_NAME,
	           "/schedules/hart257/window0: vm: no vcpu of alpha is on hart 257");
	set_string(t, "/schedules/hart257/window0", "vm", "beta");
	set_string(t, BETA, "look", "off");
	refused_on(&limits, t, VM_REFUSED_SHARED,
	           BETA ": look: \"off\" is for a hart without interruptions, but hart 257 has a "
	                "schedule");
	node(t, "/schedules/hart4294967296");
	refused_on(&limits, t, VM_REFUSED_HART,
	           "/schedules/hart4294967296: this machine has no hart 4294967296");
}

/* With ids that no mask of 64 bits could have. */
static void sixty_four(void **state)
{
	struct vm_limits limits = test_limits;
	uint32_t all[64];
	void *t = good_tree();

	(void)state;
	limits.harts.n = 64;
	for (uint32_t i = 0; i < 64; i++) {
		limits.harts.ids[i] = 1000 - i;
		all[i] = cpu_to_fdt32(1000 - i);
	}
	limits.differ = NULL;
	set_bytes(t, ALPHA "/vcpu0", "harts", all, sizeof(all));
	set_u32(t, ALPHA "/vcpu1", "harts", 1000);
	set_u32(t, BETA "/vcpu0", "harts", 1000 - 63);
	assert_true(accepted_on(&limits, t)->vms[0].vcpus[0].harts == UINT64_MAX);
	assert_true(accepted_on(&limits, t)->vms[1].vcpus[0].harts == UINT64_C(1) << 63);
	set_u32(t, BETA "/vcpu0", "harts", 1000 - 64);
	refused_on(&limits, t, VM_REFUSED_HART, BETA "/vcpu0: harts: this machine has no hart 936");
}

int test_vm_harts(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(masks_are_by_index),
	    cmocka_unit_test(ids_that_are_none),
	    cmocka_unit_test(ids_of_unusable_harts),
	    cmocka_unit_test(refusals_name_ids),
	    cmocka_unit_test(the_lowest_id_is_named),
	    cmocka_unit_test(schedules_have_ids),
	    cmocka_unit_test(sixty_four),
	};

	return cmocka_run_group_tests_name("vm_harts", tests, NULL, NULL);
}
