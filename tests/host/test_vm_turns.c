/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: the properties that concern how vcpus share a hart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/parse.h"

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/vm_tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

/* In the good tree alpha is on harts 0 and 63, and 2; beta is on hart 0. */

static void look(void **state)
{
	void *t = good_tree();

	(void)state;
	assert_false(accepted(t)->vms[0].no_look);
	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	set_string(t, BETA, "look", "off");
	assert_false(accepted(t)->vms[0].no_look);
	assert_true(accepted(t)->vms[1].no_look);
	set_string(t, BETA, "look", "on");
	assert_false(accepted(t)->vms[1].no_look);
	set_string(t, BETA, "look", "never");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: look: is not \"on\" or \"off\"");
	set_bytes(t, BETA, "look", "off\0off", 8);
	refused(t, VM_REFUSED_STRING, "/vms/beta: look: is not one string");
}

static void look_off_is_for_one_hart(void **state)
{
	static const char both[] = {0, 0, 0, 0, 0, 0, 0, 63};
	void *t = good_tree();

	(void)state;
	set_string(t, BETA, "look", "off");
	refused(t, VM_REFUSED_SHARED,
	        "/vms/beta: look: \"off\" is for vcpus alone on their harts, and two may run on "
	        "hart 0");
	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	accepted(t);
	/* A vcpu of its own VM is one too many as well. */
	t = good_tree();
	set_string(t, ALPHA, "look", "off");
	set_u32(t, ALPHA "/vcpu0", "harts", 2);
	refused(t, VM_REFUSED_SHARED,
	        "/vms/alpha: look: \"off\" is for vcpus alone on their harts, and two may run on "
	        "hart 2");

	t = good_tree();
	set_u32(t, ALPHA "/vcpu0", "harts", 2);
	set_string(t, BETA, "look", "off");
	set_bytes(t, BETA "/vcpu0", "harts", both, sizeof(both));
	refused(t, VM_REFUSED_SHARED,
	        "/vms/beta: look: \"off\" is for vcpus of one hart, and vcpu0 has several");
}

static void turns_and_shares(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree = accepted(t);

	(void)state;
	assert_int_equal(tree->turn_us, 2000);
	assert_int_equal(tree->vms[0].turn_us, 2000);
	assert_int_equal(tree->vms[0].share, 1);
	set_u32(t, BETA, "share", 500);
	tree = accepted(t);
	assert_int_equal(tree->vms[0].turn_us, 2000);
	assert_int_equal(tree->vms[1].turn_us, 1000000);
	assert_int_equal(tree->vms[1].share, 500);
	set_u32(t, "/vms", "turn-us", 100);
	tree = accepted(t);
	assert_int_equal(tree->turn_us, 100);
	assert_int_equal(tree->vms[0].turn_us, 100);
	assert_int_equal(tree->vms[1].turn_us, 50000);
	set_u32(t, "/vms", "turn-us", 1000000);
	set_u32(t, BETA, "share", 1);
	assert_int_equal(accepted(t)->vms[1].turn_us, 1000000);
}

static void bad_turns_and_shares(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u32(t, BETA, "share", 0);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: share: is 0: it would never run");
	set_u32(t, BETA, "share", 501);
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: share: makes turns of 1002000 us, longer than 1000000 us");
	set_u32(t, BETA, "share", 0xffffffff);
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: share: makes turns of 8589934590000 us, longer than 1000000 us");
	set_u64(t, BETA, "share", 1);
	refused(t, VM_REFUSED_SIZE, "/vms/beta: share: is 8 bytes long, not 4: one cell");

	t = good_tree();
	set_u32(t, "/vms", "turn-us", 99);
	refused(t, VM_REFUSED_VALUE, "/vms: turn-us: 99 is less than 100 us");
	set_u32(t, "/vms", "turn-us", 0);
	refused(t, VM_REFUSED_VALUE, "/vms: turn-us: 0 is less than 100 us");
	set_u32(t, "/vms", "turn-us", 1000001);
	refused(t, VM_REFUSED_VALUE, "/vms: turn-us: 1000001 is more than 1000000 us");
	set_string(t, "/vms", "turn-us", "");
	refused(t, VM_REFUSED_SIZE, "/vms: turn-us: is 1 bytes long, not 4: one cell");
}

static bool offered(const void *t)
{
	struct selectors table;
	bool inexact;

	vm_config_parse_early(t, fdt_totalsize(t), &table, &inexact);
	return inexact;
}

static void time_epoch(void **state)
{
	void *t = good_tree();

	(void)state;
	assert_int_equal(accepted(t)->time_epoch, 0);
	set_u32(t, "/vms", "time-epoch", 0xffffffff);
	assert_int_equal(accepted(t)->time_epoch, 0xffffffff);
	set_string(t, "/vms", "time-epoch", "2026-01-01");
	refused(t, VM_REFUSED_SIZE, "/vms: time-epoch: is 11 bytes long, not 4: one cell");
}

/* The word of /vms that is read before the rest of the tree. */
static void inexact_counts(void **state)
{
	void *t = good_tree();
	struct selectors table;
	bool inexact;

	(void)state;
	assert_false(offered(t));
	set_string(t, "/vms", "inexact-counts", "on");
	accepted(t);
	assert_true(offered(t));
	vm_config_parse_early(t, 16, &table, &inexact);
	assert_false(inexact);
	set_string(t, "/vms", "inexact-counts", "off");
	accepted(t);
	assert_false(offered(t));
	set_string(t, "/vms", "inexact-counts", "o");
	refused(t, VM_REFUSED_VALUE, "/vms: inexact-counts: is not \"on\" or \"off\"");
	assert_false(offered(t));
	set_string(t, "/vms", "inexact-counts", "one");
	assert_false(offered(t));
}

int test_vm_turns(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(look),
	    cmocka_unit_test(look_off_is_for_one_hart),
	    cmocka_unit_test(turns_and_shares),
	    cmocka_unit_test(bad_turns_and_shares),
	    cmocka_unit_test(time_epoch),
	    cmocka_unit_test(inexact_counts),
	};

	return cmocka_run_group_tests_name("vm_turns", tests, NULL, NULL);
}
