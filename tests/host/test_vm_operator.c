/* SPDX-License-Identifier: Apache-2.0 */
/* VMs that are operators: what the VM tree's parser makes of them, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/pci_node.h"
#include "tests/host/vm_tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

/* Beta watches alpha. */
static void *one_operator(void)
{
	void *t = good_tree();

	set_string(t, BETA, "operator", "watch");
	set_string(t, BETA, "operator-vms", "alpha");
	set_u32(t, BETA, "operator-interrupt", 5);
	return t;
}

static void what_vms_get(void **state)
{
	void *t = one_operator();
	const struct vm_tree *tree = accepted(t);
	const struct vm_operator *o = &tree->vms[1].operator;

	(void)state;
	assert_int_equal(tree->vms[0].operator.access, VM_OPERATOR_NONE);
	assert_int_equal(tree->vms[0].operator.vms, 0);
	assert_false(pci_node_is_there(&tree->vms[0]));
	assert_int_equal(o->access, VM_OPERATOR_WATCH);
	assert_int_equal(o->vms, 1);
	assert_int_equal(o->requests_hz, 100);
	assert_int_equal(o->samples_hz, 0);
	assert_int_equal(o->source, 5);
	assert_int_equal(o->identity, 0);
	assert_true(pci_node_is_there(&tree->vms[1]));
	assert_int_equal(pci_node_slot(&tree->vms[1], tree->vms[1].n_shared), 31);
	set_string(t, BETA, "operator", "control");
	set_bytes(t, BETA, "operator-vms", "beta\0alpha", 11);
	set_u32(t, BETA, "operator-requests-hz", 10000);
	set_u32(t, BETA, "operator-samples-hz", 100000);
	set_string(t, BETA, "interrupts", "aia");
	set_u32(t, BETA, "operator-identity", 63);
	o = &accepted(t)->vms[1].operator;
	assert_int_equal(o->access, VM_OPERATOR_CONTROL);
	assert_int_equal(o->vms, 3);
	assert_int_equal(o->requests_hz, 10000);
	assert_int_equal(o->samples_hz, 100000);
	assert_int_equal(o->identity, 63);
	/* Without a list: itself alone. */
	delete_prop(t, BETA, "operator-vms");
	assert_int_equal(accepted(t)->vms[1].operator.vms, 2);
}

/* Behind those of bells. */
static void slot(void **state)
{
	struct vm_config vm = {.n_shared = 2, .operator.access = VM_OPERATOR_WATCH };

	(void)state;
	assert_int_equal(pci_node_slot(&vm, vm.n_shared), 31);
	vm.shared[0].bell = 1;
	vm.shared[1].bell = 2;
	assert_int_equal(pci_node_slot(&vm, vm.n_shared), 29);
	vm.n_devices = 1;
	vm.devices[0].pci.given = true;
	vm.devices[0].pci.bdf = 29 << 3;
	assert_int_equal(pci_node_slot(&vm, vm.n_shared), 28);
}

static void words(void **state)
{
	void *t = one_operator();

	(void)state;
	set_string(t, BETA, "operator", "on");
	refused(t, VM_REFUSED_VALUE, BETA ": operator: is not \"watch\" or \"control\"");
	delete_prop(t, BETA, "operator");
	refused_first(t, VM_REFUSED_MISSING_PROPERTY,
	              BETA ": operator-vms: is that of an operator, and there is no property "
	                   "operator");
	set_string(t, BETA, "operator", "watch");
	set_string(t, BETA, "operator-vms", "gamma");
	refused(t, VM_REFUSED_NAME, BETA ": operator-vms: no VM has the name \"gamma\"");
	set_bytes(t, BETA, "operator-vms", "alpha\0alpha", 12);
	refused(t, VM_REFUSED_DUPLICATE, BETA ": operator-vms: names \"alpha\" twice");
	set_bytes(t, BETA, "operator-vms", "", 0);
	refused(t, VM_REFUSED_STRING, BETA ": operator-vms: is not a list of strings");
}

static void numbers(void **state)
{
	void *t = one_operator();

	(void)state;
	set_u32(t, BETA, "operator-requests-hz", 0);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": operator-requests-hz: 0 is not 1 to 10000 requests a second");
	set_u32(t, BETA, "operator-requests-hz", 10001);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": operator-requests-hz: 10001 is not 1 to 10000 requests a second");
	delete_prop(t, BETA, "operator-requests-hz");
	set_u32(t, BETA, "operator-samples-hz", 0);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": operator-samples-hz: 0 is not 1 to 100000 samples a second");
	set_u32(t, BETA, "operator-samples-hz", 100001);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": operator-samples-hz: 100001 is not 1 to 100000 samples a second");
	delete_prop(t, BETA, "operator-samples-hz");
	delete_prop(t, BETA, "operator-interrupt");
	refused(t, VM_REFUSED_MISSING_PROPERTY, BETA ": operator-interrupt: is missing");
	set_u32(t, BETA, "operator-interrupt", 32);
	refused(t, VM_REFUSED_VALUE,
	        BETA
	        ": operator-interrupt: 32 is no source of the VM's interrupt controller, which "
	        "are 1 to 31");
	set_u32(t, BETA, "operator-interrupt", 10);
	refused(t, VM_REFUSED_INTERRUPT,
	        BETA ": operator-interrupt: source 10 is that of the VM's "
	             "UART");
	set_string(t, BETA, "console", "off");
	assert_int_equal(accepted(t)->vms[1].operator.source, 10);
	set_u32(t, BETA, "operator-identity", 7);
	refused(t, VM_REFUSED_INTERRUPT,
	        BETA ": operator-identity: is one of an interrupt file, which the VM has with "
	             "interrupts = \"aia\"");
	set_string(t, BETA, "interrupts", "aia");
	set_u32(t, BETA, "operator-identity", 64);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": operator-identity: 64 is no identity that each "
	             "interrupt file has: these are 1 to 63");
}

/* Its source and identity are no bell's. */
static void bells(void **state)
{
	void *t = one_operator();

	(void)state;
	node(t, "/shared");
	set_u64(t, "/shared/ring", "size", 0x10000);
	set_u64(t, "/shared/ring/alpha", "at", 0x40000000);
	set_string(t, "/shared/ring/alpha", "access", "read-write");
	set_u32(t, "/shared/ring/alpha", "bell", 1);
	set_u64(t, "/shared/ring/beta", "at", 0x40000000);
	set_string(t, "/shared/ring/beta", "access", "read");
	set_u32(t, "/shared/ring/beta", "bell", 5);
	refused(t, VM_REFUSED_INTERRUPT,
	        BETA ": operator-interrupt: source 5 is that of a bell of the VM");
	set_u32(t, "/shared/ring/beta", "bell", 6);
	set_string(t, BETA, "interrupts", "aia");
	set_u32(t, "/shared/ring/beta", "bell-identity", 3);
	set_u32(t, BETA, "operator-identity", 3);
	refused(t, VM_REFUSED_INTERRUPT, BETA ": operator-identity: 3 is that of a bell of the VM");
	set_u32(t, BETA, "operator-identity", 4);
	assert_int_equal(accepted(t)->vms[1].operator.identity, 4);
}

int test_vm_operator(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_vms_get), cmocka_unit_test(slot),  cmocka_unit_test(words),
	    cmocka_unit_test(numbers),      cmocka_unit_test(bells),
	};

	return cmocka_run_group_tests_name("vm_operator", tests, NULL, NULL);
}
