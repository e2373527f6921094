/* SPDX-License-Identifier: Apache-2.0 */
/* Bells of memory that VMs share: what the VM tree's parser makes of them, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/tree/pci_node.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define RING   "/shared/ring"
#define ALPHA  RING "/alpha"
#define BETA   RING "/beta"
#define HIGH   UINT64_C(0x100000000)

static void give_to(void *t, const char *path, uint64_t at, uint32_t bell)
{
	set_u64(t, path, "at", at);
	set_string(t, path, "access", "read-write");
	if (bell)
		set_u32(t, path, "bell", bell);
}

/* Both have a bell. */
static void *one_bell(void)
{
	void *t = good_tree();

	node(t, "/shared");
	set_u64(t, RING, "size", 0x10000);
	give_to(t, ALPHA, HIGH, 1);
	give_to(t, BETA, 0x40000000, 31);
	test_host = NULL;
	return t;
}

static void what_vms_get(void **state)
{
	void *t = one_bell();
	const struct vm_tree *tree = accepted(t);

	(void)state;
	assert_int_equal(tree->vms[0].shared[0].bell, 1);
	assert_int_equal(tree->vms[1].shared[0].bell, 31);
	assert_int_equal(tree->vms[0].shared[0].identity, 0);
	assert_true(pci_node_is_there(&tree->vms[0]));
	assert_int_equal(pci_node_slot(&tree->vms[0], 0), 31);
	set_string(t, "/vms/beta", "interrupts", "aia");
	set_u32(t, BETA, "bell-identity", 63);
	tree = accepted(t);
	assert_int_equal(tree->vms[1].shared[0].identity, 63);
	delete_prop(t, ALPHA, "bell");
	delete_prop(t, BETA, "bell");
	delete_prop(t, BETA, "bell-identity");
	tree = accepted(t);
	assert_int_equal(tree->vms[0].shared[0].bell, 0);
	assert_false(pci_node_is_there(&tree->vms[0]));
}

/* The highest ones, past those of functions, for memory with a bell alone. */
static void slots(void **state)
{
	struct vm_config vm = {.n_shared = 4, .n_devices = 3};

	(void)state;
	vm.shared[0].bell = 3;
	vm.shared[2].bell = 4;
	vm.shared[3].bell = 5;
	assert_int_equal(pci_node_slot(&vm, 0), 31);
	assert_int_equal(pci_node_slot(&vm, 2), 30);
	assert_int_equal(pci_node_slot(&vm, 3), 29);
	vm.devices[0].pci.given = true;
	vm.devices[0].pci.bdf = 31 << 3 | 2;
	vm.devices[1].pci.given = true;
	vm.devices[1].pci.bdf = 29 << 3;
	vm.devices[2].pci.bdf = 30 << 3; /* no function */
	assert_int_equal(pci_node_slot(&vm, 0), 30);
	assert_int_equal(pci_node_slot(&vm, 2), 28);
	assert_int_equal(pci_node_slot(&vm, 3), 27);
}

static void source(void **state)
{
	void *t = one_bell();

	(void)state;
	set_u32(t, ALPHA, "bell", 0);
	refused(t, VM_REFUSED_VALUE,
	        ALPHA ": bell: 0 is no source of the VM's interrupt controller, which are 1 to 31");
	set_u32(t, ALPHA, "bell", 32);
	refused(t, VM_REFUSED_VALUE,
	        ALPHA
	        ": bell: 32 is no source of the VM's interrupt controller, which are 1 to 31");
	set_u32(t, ALPHA, "bell", 10);
	refused(t, VM_REFUSED_INTERRUPT, ALPHA ": bell: source 10 is that of the VM's UART");
	set_string(t, "/vms/alpha", "console", "off");
	assert_int_equal(accepted(t)->vms[0].shared[0].bell, 10);
	set_u64(t, "/shared/log", "size", 4096);
	give_to(t, "/shared/log/alpha", HIGH + MIB(2), 10);
	give_to(t, "/shared/log/beta", HIGH + MIB(2), 2);
	/* Nodes that come later are read first. */
	refused(t, VM_REFUSED_INTERRUPT,
	        ALPHA ": bell: source 10 is that of another bell of the VM");
	set_u32(t, "/shared/log/alpha", "bell", 11);
	assert_int_equal(accepted(t)->vms[0].n_shared, 2);
	set_string(t, ALPHA, "bell", "x");
	refused(t, VM_REFUSED_SIZE, ALPHA ": bell: is 2 bytes long, not 4: one cell");
}

static void identity(void **state)
{
	void *t = one_bell();

	(void)state;
	set_u32(t, BETA, "bell-identity", 5);
	refused(t, VM_REFUSED_INTERRUPT,
	        BETA ": bell-identity: is one of an interrupt file, which the VM has with "
	             "interrupts = \"aia\"");
	set_string(t, "/vms/beta", "interrupts", "aia");
	assert_int_equal(accepted(t)->vms[1].shared[0].identity, 5);
	set_u32(t, BETA, "bell-identity", 0);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": bell-identity: 0 is no identity that each interrupt file has: these are 1 "
	             "to 63");
	set_u32(t, BETA, "bell-identity", 64);
	refused(t, VM_REFUSED_VALUE,
	        BETA ": bell-identity: 64 is no identity that each interrupt file has: these are "
	             "1 to 63");
	set_u32(t, BETA, "bell-identity", 5);
	set_u64(t, "/shared/log", "size", 4096);
	give_to(t, "/shared/log/alpha", HIGH + MIB(2), 11);
	give_to(t, "/shared/log/beta", HIGH + MIB(2), 2);
	set_u32(t, "/shared/log/beta", "bell-identity", 5);
	refused(t, VM_REFUSED_INTERRUPT,
	        BETA ": bell-identity: 5 is that of another bell of the VM");
	delete_node(t, "/shared/log");
	delete_prop(t, BETA, "bell");
	refused(t, VM_REFUSED_MISSING_PROPERTY,
	        BETA ": bell-identity: is that of a bell, and there is no property bell");
}

/* The memory is a BAR. */
static void memory(void **state)
{
	void *t = one_bell();

	(void)state;
	set_u64(t, RING, "size", 0x3000);
	refused(t, VM_REFUSED_BELL,
	        BETA ": bell: the memory is a BAR of its bell: 0x3000 bytes are no power of two");
	set_u64(t, RING, "size", MIB(4));
	give_to(t, ALPHA, HIGH + MIB(2), 1);
	refused(t, VM_REFUSED_BELL,
	        ALPHA ": bell: the memory is a BAR of its bell: 0x100200000 is not a multiple of "
	              "its size");
	give_to(t, ALPHA, HIGH + MIB(4), 1);
	assert_int_equal(accepted(t)->n_shared, 1);
}

static void somebody_rings(void **state)
{
	void *t = one_bell();

	(void)state;
	delete_prop(t, BETA, "bell");
	refused(t, VM_REFUSED_BELL,
	        ALPHA ": bell: no other VM has a bell there, so nobody would ring this one");
	delete_node(t, BETA);
	refused(t, VM_REFUSED_BELL,
	        ALPHA ": bell: no other VM has a bell there, so nobody would ring this one");
}

/* Where the bus would be, is nothing else of the VM's. */
static void bus(void **state)
{
	void *t = one_bell();

	(void)state;
	give_to(t, ALPHA, 0x30000000, 1);
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        ALPHA ": bell: shared memory at 0x30000000 are where the VM's PCI bus would be, at "
	              "0x30000000");
	give_to(t, ALPHA, 0x30200000, 1);
	assert_int_equal(accepted(t)->n_shared, 1);
	give_to(t, ALPHA, 0x2fe00000, 1);
	assert_int_equal(accepted(t)->n_shared, 1);
	/* Of another memory, which has no bell. */
	set_u64(t, "/shared/log", "size", MIB(4));
	give_to(t, "/shared/log/alpha", 0x2fe00000, 0);
	give_to(t, ALPHA, HIGH, 1);
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        "/shared/ring/alpha: bell: shared memory at 0x2fe00000 are where the VM's PCI bus "
	        "would be, at 0x30000000");
	/* The same for a power key. */
	delete_prop(t, ALPHA, "bell");
	delete_prop(t, BETA, "bell");
	assert_int_equal(accepted(t)->n_shared, 2);
	set_string(t, "/vms/alpha", "shutdown", "key");
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        "/vms/alpha: shutdown: shared memory at 0x2fe00000 are where the VM's PCI bus "
	        "would be, at 0x30000000");
}

int test_vm_bell(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_vms_get), cmocka_unit_test(slots),
	    cmocka_unit_test(source),       cmocka_unit_test(identity),
	    cmocka_unit_test(memory),       cmocka_unit_test(somebody_rings),
	    cmocka_unit_test(bus),
	};

	return cmocka_run_group_tests_name("vm_bell", tests, NULL, NULL);
}
