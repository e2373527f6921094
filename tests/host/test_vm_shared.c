/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that several VMs have: what the VM tree's parser makes of it, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/tree/vm_memory.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define KIB(n) ((uint64_t)(n) << 10)
#define RING   "/shared/ring"
#define ALPHA  RING "/alpha"
#define BETA   RING "/beta"
#define HIGH   UINT64_C(0x100000000)
#define FIRST  0x82000000 /* the first byte of guest memory; there are 128 MiB */

static void give_to(void *t, const char *path, uint64_t at, const char *access)
{
	set_u64(t, path, "at", at);
	if (access)
		set_string(t, path, "access", access);
}

/* Alpha writes, and beta reads. */
static void *one_ring(void)
{
	void *t = good_tree();

	node(t, "/shared");
	set_u64(t, RING, "size", KIB(12));
	give_to(t, ALPHA, HIGH, "read-write");
	give_to(t, BETA, 0x40000000, NULL);
	test_host = NULL;
	return t;
}

static void what_vms_get(void **state)
{
	void *t = one_ring();
	const struct vm_tree *tree = accepted(t);

	(void)state;
	assert_int_equal(tree->n_shared, 1);
	assert_string_equal(tree->shared[0].name, "ring");
	assert_int_equal(tree->shared[0].size, KIB(12));
	/* Behind the VMs, which have what they had. */
	assert_int_equal(tree->vms[0].host_base, FIRST);
	assert_int_equal(tree->vms[1].host_base, FIRST + MIB(64));
	assert_int_equal(tree->shared[0].host_base, FIRST + MIB(66));
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(tree->vms[i].n_shared, 1);
		assert_int_equal(tree->vms[i].shared[0].number, 0);
		assert_int_equal(tree->vms[i].shared[0].at, i ? 0x40000000 : HIGH);
		assert_int_equal(tree->vms[i].shared[0].writes, i == 0);
	}
	set_string(t, BETA, "access", "read-write");
	assert_true(accepted(t)->vms[1].shared[0].writes);
	set_string(t, BETA, "access", "read");
	assert_false(accepted(t)->vms[1].shared[0].writes);
	/* One VM may have it for itself, for what is to outlive it; or none, if the node is empty.
	 */
	delete_node(t, BETA);
	assert_int_equal(accepted(t)->vms[1].n_shared, 0);
	delete_node(t, RING);
	assert_int_equal(accepted(t)->n_shared, 0);
}

static void in_the_gaps(void **state)
{
	void *t = one_ring();
	fdt64_t at[2] = {cpu_to_fdt64(FIRST), cpu_to_fdt64(MIB(4))};
	const struct vm_tree *tree;

	(void)state;
	set_u64(t, "/shared/log", "size", MIB(2) + 4096);
	give_to(t, "/shared/log/beta", HIGH, "read-write");
	tree = accepted(t);
	assert_string_equal(tree->shared[0].name, "log"); /* libfdt puts it in front */
	assert_int_equal(tree->shared[0].host_base, FIRST + MIB(66));
	assert_int_equal(tree->shared[1].host_base, FIRST + MIB(70));
	assert_int_equal(tree->vms[1].n_shared, 2);
	/* Chosen memory leaves gaps. */
	set_bytes(t, "/vms/beta", "memory-at", at, sizeof(at));
	delete_prop(t, "/vms/beta", "memory");
	tree = accepted(t);
	assert_int_equal(tree->vms[0].host_base, FIRST + MIB(4));
	assert_int_equal(tree->shared[0].host_base, FIRST + MIB(68));
	at[0] = cpu_to_fdt64(FIRST + MIB(4));
	set_bytes(t, "/vms/beta", "memory-at", at, sizeof(at));
	tree = accepted(t);
	assert_int_equal(tree->shared[0].host_base, FIRST);
	assert_int_equal(tree->shared[1].host_base, FIRST + MIB(72));
	/* Behind memory of a VM with PCI functions nobody has anything. */
	node(t, "/vms/alpha/devices");
	set_string(t, "/vms/alpha/devices/disk", "pci", "00:01.0");
	set_string(t, "/vms/alpha/devices/disk", "dma", "isolated");
	tree = accepted(t);
	assert_int_equal(tree->vms[0].host_base, FIRST + MIB(8));
	assert_int_equal(tree->shared[0].host_base, FIRST);
	assert_int_equal(tree->shared[1].host_base, FIRST + MIB(74));
	set_u64(t, "/shared/log", "size", 4096);
	tree = accepted(t);
	assert_int_equal(tree->shared[0].host_base, FIRST);
	assert_int_equal(tree->shared[1].host_base, FIRST + MIB(74));
	/* And that is so of shared memory that such a VM has: the ring is alpha's, too. */
	set_u64(t, "/shared/log", "size", MIB(40));
	tree = accepted(t);
	assert_int_equal(tree->shared[0].host_base, FIRST + MIB(74));
	assert_int_equal(tree->shared[1].host_base, FIRST);
	delete_node(t, BETA);
	give_to(t, "/shared/log/alpha", 0x40000000, NULL);
	set_u64(t, RING, "size", MIB(2));
	set_u64(t, "/shared/log", "size", MIB(2));
	tree = accepted(t);
	assert_int_equal(tree->shared[0].host_base, FIRST);
	assert_int_equal(tree->shared[1].host_base, FIRST + MIB(74));
}

static void up_to_the_ends(void **state)
{
	void *t = one_ring();

	(void)state;
	give_to(t, ALPHA, GUEST_ADDRESS_END - MIB(2), NULL);
	set_u64(t, RING, "size", MIB(2));
	assert_int_equal(accepted(t)->n_shared, 1);
	set_u64(t, RING, "size", MIB(2) + 4096);
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        ALPHA ": at: the memory at 0x1ffffe00000 goes on behind all that a VM can address, "
	              "0x20000000000");
	give_to(t, ALPHA, GUEST_ADDRESS_END, NULL);
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        ALPHA ": at: the memory at 0x20000000000 goes on behind all that a VM can address, "
	              "0x20000000000");
	give_to(t, ALPHA, UINT64_C(0xffffffffffe00000), NULL);
	refused(t, VM_REFUSED_MEMORY_GUEST,
	        ALPHA ": at: the memory at 0xffffffffffe00000 goes on behind all that a VM can "
	              "address, 0x20000000000");
	give_to(t, ALPHA, 0, NULL);
	set_u64(t, RING, "size", MIB(62));
	assert_int_equal(accepted(t)->shared[0].host_base, FIRST + MIB(66));
	set_u64(t, RING, "size", MIB(62) + 4096);
	refused(t, VM_REFUSED_MEMORY_SUM,
	        RING ": size: all VMs and shared memory up to this one need 131076 KiB, this "
	             "machine has 131072");
	set_u64(t, RING, "size", UINT64_C(0xfffffffffffff000));
	refused(t, VM_REFUSED_MEMORY_SUM,
	        RING ": size: all VMs and shared memory up to this one need 18014398509549564 KiB, "
	             "this machine has 131072");
}

static void bad_sizes(void **state)
{
	void *t = one_ring();
	fdt64_t at[2] = {cpu_to_fdt64(FIRST + MIB(66)), cpu_to_fdt64(MIB(2))};

	(void)state;
	set_u64(t, RING, "size", 0);
	refused(t, VM_REFUSED_MEMORY, RING ": size: 0 bytes is not a positive multiple of 4 KiB");
	set_u64(t, RING, "size", 4095);
	refused(t, VM_REFUSED_MEMORY,
	        RING ": size: 4095 bytes is not a positive multiple of 4 KiB");
	set_u32(t, RING, "size", 4096);
	refused(t, VM_REFUSED_SIZE,
	        RING ": size: is 4 bytes long, not 8: one 64-bit number, two cells");
	delete_prop(t, RING, "size");
	refused(t, VM_REFUSED_MISSING_PROPERTY, RING ": size: is missing");
	/* As much as is left, but not in one piece. */
	set_u64(t, RING, "size", MIB(62));
	set_bytes(t, "/vms/beta", "memory-at", at, sizeof(at));
	refused(t, VM_REFUSED_MEMORY_ROOM,
	        RING ": size: no 62 MiB in one piece are left beside the memory of the VMs, "
	             "/reserved-memory and the VM tree; at most 60");
}

static void bad_users(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = one_ring();

	(void)state;
	give_to(t, RING "/gamma", HIGH, NULL);
	refused(t, VM_REFUSED_NO_VM, RING "/gamma: no VM has this name");
	delete_node(t, RING "/gamma");
	set_string(t, ALPHA, "access", "read");
	refused(t, VM_REFUSED_NO_WRITER,
	        RING ": no VM may write it: one needs access = \"read-write\"");
	delete_node(t, ALPHA);
	refused(t, VM_REFUSED_NO_WRITER,
	        RING ": no VM may write it: one needs access = \"read-write\"");
	delete_node(t, BETA);
	refused(t, VM_REFUSED_NO_WRITER,
	        RING ": no VM may write it: one needs access = \"read-write\"");
	t = one_ring();
	/* Beta, which only reads, runs on hart 0. */
	limits.ad_ignores_gstage = 4;
	assert_int_equal(accepted_on(&limits, t)->n_shared, 1);
	limits.ad_ignores_gstage = 5;
	refused_on(&limits, t, VM_REFUSED_READ_ONLY,
	           BETA ": access: the VM could change what it may only read: hart 0 sets A and D "
	                "in page tables there, even without Svadu");
	set_string(t, BETA, "access", "read-write");
	assert_int_equal(accepted_on(&limits, t)->n_shared, 1);
	t = one_ring();
	set_string(t, ALPHA, "access", "write");
	refused(t, VM_REFUSED_VALUE, ALPHA ": access: is not \"read\" or \"read-write\"");
	set_string(t, ALPHA, "access", "read-write");
	set_string(t, ALPHA, "acess", "read");
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        ALPHA ": acess: is not a property of this node; did you mean access?");
	delete_prop(t, ALPHA, "acess");
	node(t, ALPHA "/vcpu0");
	refused(t, VM_REFUSED_UNKNOWN_NODE, ALPHA "/vcpu0: no node belongs here");
	delete_node(t, ALPHA "/vcpu0");
	delete_prop(t, ALPHA, "at");
	refused(t, VM_REFUSED_MISSING_PROPERTY, ALPHA ": at: is missing");
	set_u32(t, ALPHA, "at", 0);
	refused(t, VM_REFUSED_SIZE,
	        ALPHA ": at: is 4 bytes long, not 8: one 64-bit number, two cells");
	/* libfdt does not find a second node, but a blob may have one. */
	t = one_ring();
	node(t, RING "/alphb");
	give_to(t, RING "/alphb", HIGH + MIB(2), NULL);
	*strchr(fdt_get_name(t, node(t, RING "/alphb"), NULL), 'b') = 'a';
	refused(t, VM_REFUSED_DUPLICATE, ALPHA ": is there twice");
}

static void bad_names(void **state)
{
	void *t = one_ring();
	char path[32];

	(void)state;
	set_string(t, "/shared", "size", "x");
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY, "/shared: size: is not a property of this node");
	delete_prop(t, "/shared", "size");
	set_string(t, RING, "at", "x");
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY, RING ": at: is not a property of this node");
	delete_prop(t, RING, "at");
	node(t, "/shared/Ring");
	refused(t, VM_REFUSED_NAME,
	        "/shared/Ring: the name of shared memory is 1 to 15 characters of a-z, 0-9 and -");
	delete_node(t, "/shared/Ring");
	node(t, "/shared/a-name-of-16-chr");
	refused(t, VM_REFUSED_NAME,
	        "/shared/a-name-of-16-chr: the name of shared memory is 1 to 15 characters of a-z, "
	        "0-9 and -");
	delete_node(t, "/shared/a-name-of-16-chr");
	set_u64(t, "/shared/rinf", "size", 4096);
	give_to(t, "/shared/rinf/alpha", 0x40000000, "read-write");
	assert_int_equal(accepted(t)->n_shared, 2);
	*strchr(fdt_get_name(t, node(t, "/shared/rinf"), NULL), 'f') = 'g';
	refused(t, VM_REFUSED_DUPLICATE, RING ": two shared memories have this name");
	t = good_tree();
	node(t, "/shared");
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/shared/s%u", i);
		set_u64(t, path, "size", 4096);
		snprintf(path, sizeof(path), "/shared/s%u/alpha", i);
		give_to(t, path, HIGH + i * MIB(2), "read-write");
	}
	assert_int_equal(accepted(t)->vms[0].n_shared, 8);
	assert_int_equal(accepted(t)->shared[7].host_base, FIRST + MIB(80));
	set_u64(t, "/shared/last", "size", 4096);
	give_to(t, "/shared/last/alpha", HIGH + 8 * MIB(2), "read-write");
	refused(t, VM_REFUSED_TOO_MANY, "/shared/s0: is one shared memory more than 8");
	t = one_ring();
	node(t, "/sharee");
	*(strchr(fdt_get_name(t, node(t, "/sharee"), NULL), '\0') - 1) = 'd';
	refused(t, VM_REFUSED_DUPLICATE, "/shared: is there twice");
}

/* Each thing that a VM has, and the first and the last place that touch none of it. */
static void over(void *t, uint64_t base, uint64_t end, enum vm_refusal_code code, const char *what)
{
	uint64_t low = base & ~(MIB(2) - 1);
	char text[160];

	set_u64(t, RING, "size", MIB(4));
	for (uint64_t at = low - MIB(2); at<end; at += end - low> MIB(4) ? end - low : MIB(2)) {
		give_to(t, ALPHA, at, NULL);
		snprintf(text, sizeof(text),
		         ALPHA ": at: the memory at 0x%llx covers %s, at 0x%llx",
		         (unsigned long long)at, what, (unsigned long long)base);
		refused(t, code, text);
	}
	give_to(t, ALPHA, low - MIB(4), NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	give_to(t, ALPHA, (end + MIB(2) - 1) & ~(MIB(2) - 1), NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
}

static uint32_t seven_files(uint32_t hart)
{
	(void)hart;
	return 7;
}

static void where_a_vm_has_something(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = one_ring();

	(void)state;
	give_to(t, ALPHA, HIGH + 4096, NULL);
	refused(t, VM_REFUSED_MEMORY, ALPHA ": at: 0x100001000 is not a multiple of 2 MiB");
	over(t, 0x80000000, 0x84000000, VM_REFUSED_OVERLAP, "the VM's own memory");
	over(t, 0xc000000, 0xc400000, VM_REFUSED_MEMORY_GUEST, "the VM's own interrupt controller");
	over(t, 0x10000000, 0x10001000, VM_REFUSED_MEMORY_GUEST, "the VM's own UART");
	set_string(t, "/vms/alpha", "console", "off");
	give_to(t, ALPHA, 0x10000000, NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	set_string(t, "/vms/alpha", "machine", "virt");
	over(t, 0x10001000, 0x10009000, VM_REFUSED_MEMORY_GUEST, "the VM's own virtio slots");
	set_string(t, "/vms/alpha", "machine", "tally");
	/* A VM without functions has no bus. */
	give_to(t, ALPHA, 0x30000000, NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	node(t, "/vms/alpha/devices");
	set_string(t, "/vms/alpha/devices/disk", "pci", "00:01.0");
	set_string(t, "/vms/alpha/devices/disk", "dma", "isolated");
	over(t, 0x30000000, 0x30100000, VM_REFUSED_MEMORY_GUEST, "the VM's own PCI bus");
	/* Of another machine, whose windows are not known, it is not refused. */
	give_to(t, ALPHA, 0x50000000, NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	use_board("plic");
	over(t, 0x40000000, 0x60000000, VM_REFUSED_REGISTERS, "a window of the PCI bus");
	delete_node(t, "/vms/alpha/devices");
	give_to(t, ALPHA, 0x50000000, NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	/* With an AIA the PLIC's place is free. */
	t = one_ring();
	limits.guest_files = seven_files;
	set_u32(t, "/vms/alpha/vcpu0", "harts", 0);
	set_string(t, "/vms/alpha", "interrupts", "aia");
	give_to(t, ALPHA, 0xc000000, NULL);
	assert_int_equal(accepted_on(&limits, t)->n_shared, 1);
	give_to(t, ALPHA, 0xd000000, NULL);
	refused_on(&limits, t, VM_REFUSED_MEMORY_GUEST,
	           ALPHA ": at: the memory at 0xd000000 covers the VM's own interrupt controller, "
	                 "at 0xd000000");
	give_to(t, ALPHA, 0x28000000, NULL);
	refused_on(&limits, t, VM_REFUSED_MEMORY_GUEST,
	           ALPHA ": at: the memory at 0x28000000 covers the VM's own interrupt controller, "
	                 "at 0x28000000");
	test_host = NULL;
}

/* Beta has the clock, whose registers are at 0x101000. Alpha has not. */
static void where_a_vm_has_a_device(void **state)
{
	void *t = one_device("/soc/rtc@101000");

	(void)state;
	use_board("plic");
	node(t, "/shared");
	set_u64(t, RING, "size", KIB(4));
	give_to(t, ALPHA, 0, "read-write");
	assert_int_equal(accepted(t)->n_shared, 1);
	give_to(t, BETA, 0, NULL);
	assert_int_equal(accepted(t)->n_shared, 1);
	set_u64(t, RING, "size", 0x101000);
	assert_int_equal(accepted(t)->n_shared, 1);
	set_u64(t, RING, "size", 0x102000);
	refused(t, VM_REFUSED_REGISTERS,
	        BETA ": at: the memory at 0x0 covers registers of a device of the VM, at 0x101000");
	test_host = NULL;
}

static void two_in_one_place(void **state)
{
	void *t = one_ring();

	(void)state;
	set_u64(t, "/shared/log", "size", MIB(2) + 4096);
	give_to(t, "/shared/log/alpha", HIGH, "read-write");
	/* libfdt puts the log in front. */
	refused(t, VM_REFUSED_OVERLAP,
	        ALPHA ": at: the memory at 0x100000000 covers other shared memory, at "
	              "0x100000000");
	give_to(t, ALPHA, HIGH + MIB(2), NULL);
	refused(t, VM_REFUSED_OVERLAP,
	        ALPHA ": at: the memory at 0x100200000 covers other shared memory, at "
	              "0x100000000");
	give_to(t, ALPHA, HIGH + MIB(4), NULL);
	assert_int_equal(accepted(t)->n_shared, 2);
	/* In two VMs one address is two places. */
	give_to(t, ALPHA, 0x40000000, NULL);
	assert_int_equal(accepted(t)->n_shared, 2);
}

int test_vm_shared(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_vms_get),
	    cmocka_unit_test(in_the_gaps),
	    cmocka_unit_test(up_to_the_ends),
	    cmocka_unit_test(bad_sizes),
	    cmocka_unit_test(bad_users),
	    cmocka_unit_test(bad_names),
	    cmocka_unit_test(where_a_vm_has_something),
	    cmocka_unit_test(where_a_vm_has_a_device),
	    cmocka_unit_test(two_in_one_place),
	};

	return cmocka_run_group_tests_name("vm tree: shared memory", tests, NULL, NULL);
}
