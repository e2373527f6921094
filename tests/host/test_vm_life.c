/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: the properties that concern a VM's end and its next life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/host/vm_tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

static void defaults(void **state)
{
	const struct vm_config *b = &accepted(good_tree())->vms[1];

	(void)state;
	assert_int_equal(b->restart, VM_RESTART_NEVER);
	assert_int_equal(b->restart_limit, 5);
	assert_false(b->bad_access_stops);
	assert_int_equal(b->controls, 0);
	assert_int_equal(b->heartbeat_ms, 0);
	assert_int_equal(b->shutdown, VM_SHUTDOWN_NONE);
	assert_false(b->crash_exits);
	assert_false(b->deferred);
}

/* Boot starts one of them at least. */
static void deferred(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, BETA, "boot", "defer");
	assert_true(accepted(t)->vms[1].deferred);
	assert_false(accepted(t)->vms[0].deferred);
	set_string(t, ALPHA, "boot", "defer");
	refused(t, VM_REFUSED_NO_VM, "/vms: boot: is \"defer\" in every VM: none starts");
	set_string(t, ALPHA, "boot", "now");
	assert_false(accepted(t)->vms[0].deferred);
	set_string(t, BETA, "boot", "never");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: boot: is not \"now\" or \"defer\"");
}

static void heartbeat(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u32(t, BETA, "heartbeat-ms", 1);
	assert_int_equal(accepted(t)->vms[1].heartbeat_ms, 1);
	assert_int_equal(accepted(t)->vms[0].heartbeat_ms, 0);
	set_u32(t, BETA, "heartbeat-ms", VM_HEARTBEAT_MS_MAX);
	assert_int_equal(accepted(t)->vms[1].heartbeat_ms, 3600000);
	set_u32(t, BETA, "heartbeat-ms", VM_HEARTBEAT_MS_MAX + 1);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: heartbeat-ms: 3600001 is more than 3600000 ms");
	set_u32(t, BETA, "heartbeat-ms", 0);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: heartbeat-ms: is 0: no guest rings so often");
	set_bytes(t, BETA, "heartbeat-ms", "500", 4 - 1);
	refused(t, VM_REFUSED_SIZE, "/vms/beta: heartbeat-ms: is 3 bytes long, not 4: one cell");
}

/* A VM may name those before it and those behind. */
static void controls(void **state)
{
	void *t = good_tree();

	(void)state;
	/* libfdt puts it first. */
	set_u64(t, "/vms/gamma", "memory", 2 << 20);
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_string(t, "/vms/gamma", "controls", "beta");
	set_u32(t, "/vms/gamma/vcpu0", "harts", 0);
	set_bytes(t, BETA, "controls", "gamma\0alpha", 12);
	assert_string_equal(accepted(t)->vms[0].name, "gamma");
	assert_int_equal(accepted(t)->vms[0].controls, 4);
	assert_int_equal(accepted(t)->vms[1].controls, 0);
	assert_int_equal(accepted(t)->vms[2].controls, 3);
	set_bytes(t, BETA, "controls", "gamma\0gamma", 12);
	refused(t, VM_REFUSED_DUPLICATE, "/vms/beta: controls: names \"gamma\" twice");
	set_bytes(t, BETA, "controls", "gamma\0beta", 11);
	refused(t, VM_REFUSED_NAME, "/vms/beta: controls: names the VM itself");
	set_bytes(t, BETA, "controls", "gamma\0delta", 12);
	refused(t, VM_REFUSED_NAME, "/vms/beta: controls: no VM has the name \"delta\"");
	set_bytes(t, BETA, "controls", "gamma\0", 7);
	refused(t, VM_REFUSED_NAME, "/vms/beta: controls: no VM has the name \"\"");
	set_bytes(t, BETA, "controls", "gamma\0a\nb", 10);
	refused(t, VM_REFUSED_NAME, "/vms/beta: controls: no VM has the name \"a?b\"");
	set_bytes(t, BETA, "controls", "gamma", 5);
	refused(t, VM_REFUSED_STRING, "/vms/beta: controls: is not a list of strings");
	set_bytes(t, BETA, "controls", "", 0);
	refused(t, VM_REFUSED_STRING, "/vms/beta: controls: is not a list of strings");
}

static void values_are_read(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;

	(void)state;
	set_string(t, ALPHA, "restart", "on-failure");
	set_u32(t, ALPHA, "restart-limit", 0);
	set_string(t, ALPHA, "bad-access", "stop");
	set_string(t, BETA, "restart", "always");
	set_u32(t, BETA, "restart-limit", 1000);
	set_string(t, BETA, "bad-access", "fault");
	tree = accepted(t);
	assert_int_equal(tree->vms[0].restart, VM_RESTART_ON_FAILURE);
	assert_int_equal(tree->vms[0].restart_limit, 0);
	assert_true(tree->vms[0].bad_access_stops);
	assert_int_equal(tree->vms[1].restart, VM_RESTART_ALWAYS);
	assert_int_equal(tree->vms[1].restart_limit, 1000);
	assert_false(tree->vms[1].bad_access_stops);
	set_string(t, BETA, "restart", "never");
	assert_int_equal(accepted(t)->vms[1].restart, VM_RESTART_NEVER);
}

static void bad_values(void **state)
{
	static const char *const words[] = {"", "Never", "on", "on-failures", "alway"};
	void *t = good_tree();

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		set_string(t, BETA, "restart", words[i]);
		refused(t, VM_REFUSED_VALUE,
		        "/vms/beta: restart: is not \"never\", \"on-failure\" or \"always\"");
	}
	set_bytes(t, BETA, "restart", "never\0always", 13);
	refused(t, VM_REFUSED_STRING, "/vms/beta: restart: is not one string");

	t = good_tree();
	set_string(t, BETA, "bad-access", "ignore");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: bad-access: is not \"fault\" or \"stop\"");

	t = good_tree();
	set_string(t, BETA, "shutdown", "none");
	assert_int_equal(accepted(t)->vms[1].shutdown, VM_SHUTDOWN_NONE);
	set_string(t, BETA, "shutdown", "sysrq");
	assert_int_equal(accepted(t)->vms[1].shutdown, VM_SHUTDOWN_SYSRQ);
	assert_int_equal(accepted(t)->vms[0].shutdown, VM_SHUTDOWN_NONE);
	set_string(t, BETA, "console", "off");
	refused(t, VM_REFUSED_REFERENCE, "/vms/beta: shutdown: \"sysrq\" needs the console");
	delete_prop(t, BETA, "console");
	set_string(t, BETA, "shutdown", "acpi");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: shutdown: is not \"none\", \"sysrq\" or \"key\"");
	delete_prop(t, BETA, "shutdown");
	set_string(t, BETA, "suspend", "on");
	assert_true(accepted(t)->vms[1].suspend);
	assert_false(accepted(t)->vms[0].suspend);
	set_string(t, BETA, "suspend", "off");
	assert_false(accepted(t)->vms[1].suspend);
	set_string(t, BETA, "suspend", "mem");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: suspend: is not \"on\" or \"off\"");
	delete_prop(t, BETA, "suspend");
	set_string(t, BETA, "crash-exits", "always");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: crash-exits: is not \"on\" or \"off\"");

	t = good_tree();
	set_u32(t, BETA, "restart-limit", 1001);
	refused(t, VM_REFUSED_RESTARTS, "/vms/beta: restart-limit: 1001 is more than 1000");
	set_u32(t, BETA, "restart-limit", 0xffffffff);
	refused(t, VM_REFUSED_RESTARTS, "/vms/beta: restart-limit: 4294967295 is more than 1000");
	set_u64(t, BETA, "restart-limit", 1);
	refused(t, VM_REFUSED_SIZE, "/vms/beta: restart-limit: is 8 bytes long, not 4: one cell");
}

int test_vm_life(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),        cmocka_unit_test(controls),
	    cmocka_unit_test(deferred),        cmocka_unit_test(heartbeat),
	    cmocka_unit_test(values_are_read), cmocka_unit_test(bad_values),
	};

	return cmocka_run_group_tests_name("vm tree: life", tests, NULL, NULL);
}
