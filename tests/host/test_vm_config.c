/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: what it makes of trees that are good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/parse.h"

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/vm_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define ALPHA  "/vms/alpha"
#define BETA   "/vms/beta"

static void good_tree_is_read(void **state)
{
	const struct vm_tree *tree = accepted(good_tree());
	const struct vm_config *a = &tree->vms[0];
	const struct vm_config *b = &tree->vms[1];

	(void)state;
	assert_int_equal(tree->n_vms, 2);
	assert_string_equal(a->name, "alpha");
	assert_int_equal(a->memory, MIB(64));
	assert_int_equal(a->n_vcpus, 2);
	assert_int_equal(a->vcpus[0].harts, 1ULL << 0 | 1ULL << 2);
	assert_int_equal(a->vcpus[0].first_hart, 0);
	assert_int_equal(a->vcpus[1].harts, 1ULL << 1);
	assert_int_equal(a->vcpus[1].first_hart, 1);
	assert_true(a->kernel_is_image);
	assert_int_equal(a->kernel.size, LINUX_SIZE);
	assert_memory_equal((const char *)a->kernel.data + 56, "RSC\x05", 4);
	assert_int_equal(a->kernel_offset, LINUX_TEXT_OFFSET);
	assert_int_equal(a->kernel_span, LINUX_SPAN);
	assert_int_equal(a->dtb_offset, MIB(64) - 65536);
	/* 5000 bytes end on or before the dtb, on a page of their own. */
	assert_int_equal(a->initrd.size, CPIO_SIZE);
	assert_int_equal(a->initrd_offset, MIB(64) - 65536 - 8192);
	assert_string_equal(a->bootargs, "console=ttyS0 quiet");
	assert_true(a->console);
	assert_true(a->pmu);
	assert_int_equal(a->pmu_counters, 0x3d);
	assert_false(a->pmu_trap_reads);

	assert_string_equal(b->name, "beta");
	assert_int_equal(b->memory, MIB(2));
	assert_int_equal(b->n_vcpus, 1);
	assert_int_equal(b->vcpus[0].harts, 1);
	assert_false(b->kernel_is_image);
	assert_int_equal(b->kernel.size, RAW_SIZE);
	assert_int_equal(b->kernel_offset, 0);
	assert_int_equal(b->kernel_span, RAW_SIZE);
	assert_int_equal(b->dtb_offset, MIB(2) - 65536);
	assert_null(b->initrd.data);
	assert_int_equal(b->initrd_offset, 0);
	assert_null(b->bootargs);
}

static void options_are_read(void **state)
{
	static const uint8_t counters[] = {0, 0, 0, 4, 0, 0, 0, 0};
	void *t = good_tree();
	const struct vm_config *b;

	(void)state;
	set_string(t, BETA, "console", "off");
	set_string(t, BETA, "pmu", "on");
	set_string(t, BETA, "pmu-reads", "trap");
	set_bytes(t, BETA, "pmu-counters", counters, sizeof(counters));
	set_u64(t, BETA, "load-offset", 0x100000);
	set_string(t, BETA, "bootargs", "");
	b = &accepted(t)->vms[1];
	assert_false(b->console);
	assert_true(b->pmu);
	assert_true(b->pmu_trap_reads);
	assert_int_equal(b->pmu_counters, 0x11);
	assert_int_equal(b->kernel_offset, 0x100000);
	assert_string_equal(b->bootargs, "");

	set_string(t, BETA, "console", "on");
	set_string(t, BETA, "pmu-reads", "direct");
	set_bytes(t, BETA, "pmu-counters", "", 0);
	b = &accepted(t)->vms[1];
	assert_true(b->console);
	assert_true(b->pmu);
	assert_false(b->pmu_trap_reads);
	assert_int_equal(b->pmu_counters, 0);

	delete_prop(t, BETA, "pmu-counters");
	set_string(t, BETA, "pmu", "off");
	b = &accepted(t)->vms[1];
	assert_false(b->pmu);
	assert_int_equal(b->pmu_counters, 0);
}

/* /vms before /images: libfdt puts a new node in front of its brothers. */
static void order_does_not_matter(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;

	(void)state;
	delete_node(t, "/vms");
	node(t, "/vms");
	set_u64(t, "/vms/gamma", "memory", MIB(128));
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_u32(t, "/vms/gamma/vcpu0", "harts", 63);
	assert_true(fdt_path_offset(t, "/vms") < fdt_path_offset(t, "/images"));
	tree = accepted(t);
	assert_int_equal(tree->n_vms, 1);
	assert_int_equal(tree->vms[0].kernel.size, RAW_SIZE);
	assert_int_equal(tree->vms[0].vcpus[0].harts, 1ULL << 2);
}

/* dtc gives no phandle to a node that nobody refers to. */
static void unused_images_are_allowed(void **state)
{
	void *t = good_tree();

	(void)state;
	set_bytes(t, "/images/unused", "data", "x", 1);
	set_bytes(t, "/images/unused-too", "data", "x", 1);
	assert_int_equal(accepted(t)->n_vms, 2);
}

static void unknown_counters_are_not_checked(void **state)
{
	static const uint8_t counters[] = {0, 0, 0, 31};
	struct vm_limits limits = test_limits;
	struct vm_tree tree;
	struct vm_refusal why;
	void *t = good_tree();

	(void)state;
	limits.hctrs = 0;
	set_bytes(t, BETA, "pmu-counters", counters, sizeof(counters));
	assert_true(vm_config_parse(t, TREE_BUFFER, &limits, &tree, &why));
	assert_int_equal(tree.vms[0].pmu_counters, 0xfffffffd);
	assert_int_equal(tree.vms[1].pmu_counters, 1U << 31);
}

static void as_many_as_possible(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;
	char path[32];

	(void)state;
	for (int i = 0; i < 14; i++) {
		snprintf(path, sizeof(path), "/vms/abcdefghij-0z%x", i);
		set_u64(t, path, "memory", MIB(2));
		set_u32(t, path, "kernel", RAW_PHANDLE);
		snprintf(path, sizeof(path), "/vms/abcdefghij-0z%x/vcpu0", i);
		set_u32(t, path, "harts", 0);
	}
	/* libfdt puts a new node in front of its brothers: the highest number comes first. */
	delete_node(t, BETA "/vcpu0");
	for (int i = 7; i >= 0; i--) {
		snprintf(path, sizeof(path), BETA "/vcpu%d", i);
		set_u32(t, path, "harts", i == 0 ? 63 : 2);
	}
	tree = accepted(t);
	assert_int_equal(tree->n_vms, 16);
	assert_string_equal(tree->vms[0].name, "abcdefghij-0zd");
	assert_string_equal(tree->vms[15].name, "beta");
	assert_int_equal(tree->vms[15].n_vcpus, 8);
	assert_int_equal(tree->vms[15].vcpus[0].harts, 1ULL << 2);
	assert_int_equal(tree->vms[15].vcpus[0].first_hart, 2);
	assert_int_equal(tree->vms[15].vcpus[7].harts, 1ULL << 1);
}

static void memory_to_the_last_step(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u64(t, ALPHA, "memory", MIB(126));
	assert_int_equal(accepted(t)->vms[0].memory, MIB(126));
}

/* Kernel, initrd and dtb touch each other. The numbers are worked out by hand. */
static void layout_to_the_last_byte(void **state)
{
	void *t = good_tree();
	const struct vm_config *a;

	(void)state;
	set_image_field(t, "image_size", 0x3dee000);
	a = &accepted(t)->vms[0];
	assert_int_equal(a->kernel_offset, 0x200000);
	assert_int_equal(a->kernel_span, 0x3dee000);
	assert_int_equal(a->initrd_offset, 0x3fee000);
	assert_int_equal(a->dtb_offset, 0x3ff0000);
	set_image_field(t, "image_size", 0x3dee001);
	refused(t, VM_REFUSED_INITRD_FIT,
	        "/vms/alpha: initrd: 5000 bytes do not fit behind the kernel, which ends at "
	        "offset 67035137");

	delete_prop(t, ALPHA, "initrd");
	set_image_field(t, "image_size", 0x3df0000);
	assert_int_equal(accepted(t)->vms[0].kernel_span, 0x3df0000);
	set_image_field(t, "image_size", 0x3df0001);
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/alpha: kernel: 64946177 bytes at offset 2097152 do not fit into the VM's "
	        "memory");
}

static void raw_kernel_fills_its_memory(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u64(t, BETA, "load-offset", 0x1ef000);
	assert_int_equal(accepted(t)->vms[1].kernel_offset, 0x1ef000);
	set_u64(t, BETA, "load-offset", 0x1f0000);
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/beta: kernel: 100 bytes at offset 2031616 do not fit into the VM's memory");
}

/* A file longer than image_size, signed say, keeps all its bytes; text_offset may be 0. */
static void image_longer_than_it_says(void **state)
{
	void *t = good_tree();

	(void)state;
	set_image_field(t, "image_size", 100);
	set_image_field(t, "text_offset", 0);
	assert_int_equal(accepted(t)->vms[0].kernel_span, LINUX_SIZE);
	assert_int_equal(accepted(t)->vms[0].kernel_offset, 0);
}

/* Without the magic number, or too short for a header, it is a raw kernel. */
static void image_is_known_by_its_magic(void **state)
{
	uint8_t data[64] = {0};
	void *t = good_tree();

	(void)state;
	memcpy(data + 56, "RSC\x05", 4);
	set_bytes(t, "/images/raw", "data", data, 63);
	assert_false(accepted(t)->vms[1].kernel_is_image);
	memcpy(data + 56, "RSD\x05", 4);
	set_bytes(t, "/images/raw", "data", data, 64);
	assert_false(accepted(t)->vms[1].kernel_is_image);
	data[58] = 'C';
	data[16] = 64;
	set_bytes(t, "/images/raw", "data", data, 64);
	assert_true(accepted(t)->vms[1].kernel_is_image);
}

/* What is left of RAM at this address; its size. */
static uint64_t left(uint64_t base, uint64_t ram_size, uint64_t tree_size)
{
	const uint64_t first = (base + MIB(2) - 1) & ~(MIB(2) - 1);
	const struct vm_ram ram = {.n = 1, .banks = {{base, base + ram_size}}, .tally = first};
	struct vm_guests guests;

	tree_at_the_end(&ram, tree_size, &guests);
	assert_true(guests.n <= 1);
	if (!guests.n)
		return 0;
	assert_int_equal(guests.kept.from, first);
	assert_int_equal(guests.kept.to, first + MIB(32));
	assert_int_equal(guests.ranges[0].from, first + MIB(32));
	assert_int_equal(guests.ranges[0].to, guests.tree.from);
	assert_int_equal(guests.tree.to, ram.banks[0].to & ~(MIB(2) - 1));
	assert_true(guests.tree.to - guests.tree.from >= tree_size);
	return vm_ranges_sum(guests.ranges, guests.n);
}

static void what_is_left_for_guests(void **state)
{
	static const uint64_t bases[] = {0, MIB(2048), UINT64_MAX - MIB(1026) + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		assert_int_equal(left(bases[i], MIB(1024), 0), MIB(992));
		assert_int_equal(left(bases[i], MIB(1024), 1), MIB(990));
		assert_int_equal(left(bases[i], MIB(1024), MIB(2)), MIB(990));
		assert_int_equal(left(bases[i], MIB(1024), MIB(2) + 1), MIB(988));
		assert_int_equal(left(bases[i], MIB(1024) + MIB(2) - 1, MIB(2)), MIB(990));
		assert_int_equal(left(bases[i], MIB(34), 0), MIB(2));
		assert_int_equal(left(bases[i], MIB(34), 1), 0);
		assert_int_equal(left(bases[i], MIB(33), 0), 0);
		assert_int_equal(left(bases[i], MIB(32), 0), 0);
		assert_int_equal(left(bases[i], MIB(31), 0), 0);
		assert_int_equal(left(bases[i], 0, 0), 0);
		assert_int_equal(left(bases[i], MIB(64), MIB(30)), MIB(2));
		assert_int_equal(left(bases[i], MIB(64), MIB(32)), 0);
		assert_int_equal(left(bases[i], MIB(64), MIB(32) + 1), 0);
		assert_int_equal(left(bases[i], MIB(64), MIB(63)), 0);
	}
	assert_int_equal(left(0, UINT64_MAX, 0), UINT64_MAX - MIB(34) + 1);
	/* RAM that begins and ends within a step: only whole ones count. */
	assert_int_equal(left(4096, MIB(1024), 0), MIB(990));
	assert_int_equal(left(MIB(1), MIB(36), 0), MIB(2));
	assert_int_equal(left(MIB(1), MIB(34), 0), 0);
	assert_int_equal(left(UINT64_MAX - MIB(1), MIB(1), 0), 0);
}

/* Of RAM from 2 GiB on: the sum of what VMs get, and the number of its pieces. */
static uint64_t beside(uint64_t from, uint64_t to, uint32_t *pieces)
{
	const struct vm_ram ram = {
	    .n = 2, .banks = {{MIB(2048), MIB(3072)}, {MIB(4096), MIB(4160)}}, .tally = MIB(2048)};
	const struct vm_range blob = {from, to};
	struct vm_guests guests;

	vm_guest_ranges(&ram, &blob, &guests);
	for (uint32_t i = 0; i < guests.n; i++)
		assert_true(guests.ranges[i].to <= blob.from || guests.ranges[i].from >= blob.to);
	*pieces = guests.n;
	return vm_ranges_sum(guests.ranges, guests.n);
}

/* The VM tree stays where the boot loader put it: no VM has a step of it. */
static void the_tree_is_a_hole(void **state)
{
	const uint64_t all = MIB(992 + 64);
	uint32_t n;

	(void)state;
	assert_int_equal(beside(0, 0, &n), all);
	assert_int_equal(n, 2);
	/* In the middle, with unaligned ends; of one byte. */
	assert_int_equal(beside(MIB(2561) + 64, MIB(2565) + 1, &n), all - MIB(6));
	assert_int_equal(n, 3);
	assert_int_equal(beside(MIB(2560), MIB(2560) + 1, &n), all - MIB(2));
	assert_int_equal(n, 3);
	/* Directly behind Tally, at the end of its bank, all of another bank. */
	assert_int_equal(beside(MIB(2080), MIB(2082), &n), all - MIB(2));
	assert_int_equal(n, 2);
	assert_int_equal(beside(MIB(3071), MIB(3072), &n), all - MIB(2));
	assert_int_equal(n, 2);
	assert_int_equal(beside(MIB(4096), MIB(4160), &n), all - MIB(64));
	assert_int_equal(n, 1);
	/* In no bank, around one, and in the last step of all addresses. */
	assert_int_equal(beside(MIB(3500), MIB(3600), &n), all);
	assert_int_equal(beside(MIB(4000), MIB(4200), &n), all - MIB(64));
	assert_int_equal(beside(UINT64_MAX - 100, UINT64_MAX, &n), all);
	assert_int_equal(beside(MIB(3071), UINT64_MAX, &n), all - MIB(2 + 64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_tree_is_read),
	    cmocka_unit_test(options_are_read),
	    cmocka_unit_test(order_does_not_matter),
	    cmocka_unit_test(unused_images_are_allowed),
	    cmocka_unit_test(unknown_counters_are_not_checked),
	    cmocka_unit_test(as_many_as_possible),
	    cmocka_unit_test(memory_to_the_last_step),
	    cmocka_unit_test(layout_to_the_last_byte),
	    cmocka_unit_test(raw_kernel_fills_its_memory),
	    cmocka_unit_test(image_longer_than_it_says),
	    cmocka_unit_test(image_is_known_by_its_magic),
	    cmocka_unit_test(what_is_left_for_guests),
	    cmocka_unit_test(the_tree_is_a_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
