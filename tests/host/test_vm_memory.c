/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at chosen places: what the VM tree's parser makes of it, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/tree/vm_memory.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define ALPHA  "/vms/alpha"
#define BETA   "/vms/beta"
#define FIRST  0x82000000 /* the first byte of guest memory; there are 128 MiB */

/* Sets memory-at to n numbers: address, size and so on. */
static void set_at(void *t, const char *path, const uint64_t *numbers, int n)
{
	fdt64_t cells[2 * (VM_MAX_PIECES + 1)];

	for (int i = 0; i < n; i++)
		cells[i] = cpu_to_fdt64(numbers[i]);
	set_bytes(t, path, "memory-at", cells, n * 8);
}

#define AT(t, path, ...)                                                                           \
	set_at(t, path, (const uint64_t[]){__VA_ARGS__},                                           \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void one_piece(void **state)
{
	void *t = good_tree();
	const struct vm_config *a, *b;

	(void)state;
	AT(t, ALPHA, 0x84000000, MIB(64));
	a = &accepted(t)->vms[0];
	assert_int_equal(a->memory, MIB(64));
	assert_int_equal(a->ram_base, 0x84000000);
	assert_int_equal(a->host_base, 0x84000000);
	assert_int_equal(a->n_pieces, 1);
	assert_int_equal(a->dtb_offset, MIB(64) - 65536);
	/* The other VM keeps its addresses, and gets what is left. */
	b = a + 1;
	assert_int_equal(b->ram_base, 0x80000000);
	assert_int_equal(b->host_base, FIRST);
	assert_int_equal(b->n_pieces, 0);
	delete_prop(t, ALPHA, "memory");
	assert_int_equal(accepted(t)->vms[0].memory, MIB(64));
}

/* In any order; those that touch are one. Images are in the lowest. */
static void several_pieces(void **state)
{
	void *t = good_tree();
	const struct vm_config *a;

	(void)state;
	delete_prop(t, ALPHA, "memory");
	AT(t, ALPHA, 0x89e00000, MIB(2), 0x82400000, MIB(20), 0x88000000, MIB(4), 0x84000000,
	   MIB(2));
	a = &accepted(t)->vms[0];
	assert_int_equal(a->memory, MIB(28));
	assert_int_equal(a->n_pieces, 4);
	assert_int_equal(a->pieces[0].base, 0x82400000);
	assert_int_equal(a->pieces[0].size, MIB(20));
	assert_int_equal(a->pieces[1].base, 0x84000000);
	assert_int_equal(a->pieces[2].base, 0x88000000);
	assert_int_equal(a->pieces[3].base, 0x89e00000);
	assert_int_equal(a->ram_base, 0x82400000);
	assert_int_equal(a->first_size, MIB(20));
	assert_int_equal(a->dtb_offset, MIB(20) - 65536);
	assert_int_equal(a->initrd_offset, MIB(20) - 65536 - 8192);

	AT(t, ALPHA, 0x84000000, MIB(8), 0x83000000, MIB(16), 0x89000000, MIB(2), 0x84800000,
	   MIB(2));
	a = &accepted(t)->vms[0];
	assert_int_equal(a->n_pieces, 2);
	assert_int_equal(a->pieces[0].base, 0x83000000);
	assert_int_equal(a->pieces[0].size, MIB(26));
	assert_int_equal(a->pieces[1].base, 0x89000000);
	assert_int_equal(a->memory, MIB(28));

	AT(t, ALPHA, 0x83000000, MIB(16), 0x85000000, MIB(16), 0x84000000, MIB(16));
	a = &accepted(t)->vms[0];
	assert_int_equal(a->n_pieces, 1);
	assert_int_equal(a->pieces[0].size, MIB(48));
}

/* All of the guests' memory may be chosen, to the first and the last byte. */
static void to_the_ends(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;

	(void)state;
	delete_prop(t, ALPHA, "memory");
	delete_prop(t, BETA, "memory");
	AT(t, ALPHA, FIRST, MIB(126));
	AT(t, BETA, FIRST + MIB(126), MIB(2));
	tree = accepted(t);
	assert_int_equal(tree->vms[0].host_base, FIRST);
	assert_int_equal(tree->vms[1].host_base, 0x89e00000);
	/* The one that has not chosen gets the last step, wherever it is. */
	delete_prop(t, BETA, "memory-at");
	set_u64(t, BETA, "memory", MIB(2));
	assert_int_equal(accepted(t)->vms[1].host_base, 0x89e00000);
	AT(t, ALPHA, FIRST + MIB(2), MIB(126));
	assert_int_equal(accepted(t)->vms[1].host_base, FIRST);
	AT(t, ALPHA, FIRST, MIB(64), FIRST + MIB(66), MIB(62));
	assert_int_equal(accepted(t)->vms[1].host_base, FIRST + MIB(64));
}

/* Whoever has not chosen gets the lowest that is large enough, one VM after the other. */
static void around_the_chosen(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;

	(void)state;
	tree = accepted(t);
	assert_int_equal(tree->vms[0].host_base, FIRST);
	assert_int_equal(tree->vms[1].host_base, FIRST + MIB(64));
	/* libfdt puts gamma in front: it chooses 4 MiB above the first 2. */
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_u32(t, "/vms/gamma/vcpu0", "harts", 63);
	AT(t, "/vms/gamma", FIRST + MIB(2), MIB(4));
	tree = accepted(t);
	assert_string_equal(tree->vms[0].name, "gamma");
	assert_int_equal(tree->vms[1].host_base, FIRST + MIB(6));
	assert_int_equal(tree->vms[2].host_base, FIRST);
	AT(t, "/vms/gamma", FIRST + MIB(64), MIB(4));
	tree = accepted(t);
	assert_int_equal(tree->vms[1].host_base, FIRST);
	assert_int_equal(tree->vms[2].host_base, FIRST + MIB(68));
	AT(t, "/vms/gamma", FIRST, MIB(2), FIRST + MIB(66), MIB(2), FIRST + MIB(70), MIB(2));
	tree = accepted(t);
	assert_int_equal(tree->vms[1].host_base, FIRST + MIB(2));
	assert_int_equal(tree->vms[2].host_base, FIRST + MIB(68));
}

static void no_room(void **state)
{
	void *t = good_tree();

	(void)state;
	AT(t, BETA, FIRST + MIB(64), MIB(2));
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST);
	AT(t, BETA, FIRST + MIB(62), MIB(2));
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + MIB(64));
	set_u64(t, ALPHA, "memory", MIB(66));
	refused(t, VM_REFUSED_MEMORY_ROOM,
	        "/vms/alpha: memory: no 66 MiB in one piece are left beside the memory of the VMs, "
	        "/reserved-memory and the VM tree; at most 64");
	delete_prop(t, BETA, "memory");
	AT(t, BETA, FIRST + MIB(30), MIB(2), FIRST + MIB(62), MIB(2), FIRST + MIB(94), MIB(2));
	refused(t, VM_REFUSED_MEMORY_ROOM,
	        "/vms/alpha: memory: no 66 MiB in one piece are left beside the memory of the VMs, "
	        "/reserved-memory and the VM tree; at most 32");
	set_u64(t, ALPHA, "memory", MIB(32));
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + MIB(96));
	/* Together too much. */
	set_u64(t, ALPHA, "memory", MIB(124));
	refused(t, VM_REFUSED_MEMORY_SUM,
	        "/vms/beta: memory-at: the VMs up to this one need 130 MiB, this machine has 128 "
	        "MiB");
	/* One after the other: what alpha got is not there for beta. */
	t = good_tree();
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_u32(t, "/vms/gamma/vcpu0", "harts", 63);
	AT(t, "/vms/gamma", FIRST + MIB(126), MIB(2));
	set_u64(t, ALPHA, "memory", MIB(120));
	set_u64(t, BETA, "memory", MIB(6));
	assert_int_equal(accepted(t)->vms[2].host_base, FIRST + MIB(120));
	AT(t, "/vms/gamma", FIRST + MIB(124), MIB(2));
	refused(t, VM_REFUSED_MEMORY_ROOM,
	        "/vms/beta: memory: no 6 MiB in one piece are left beside the memory of the VMs, "
	        "/reserved-memory and the VM tree; at most 4");
}

/* Adds memory that the host keeps. */
static void reserve(const char *name, uint64_t at, uint64_t size)
{
	char path[64] = "/reserved-memory/";
	fdt64_t reg[2] = {cpu_to_fdt64(at), cpu_to_fdt64(size)};

	node(board, "/reserved-memory");
	set_u32(board, "/reserved-memory", "#address-cells", 2);
	set_u32(board, "/reserved-memory", "#size-cells", 2);
	set_bytes(board, "/reserved-memory", "ranges", "", 0);
	strcat(path, name);
	set_bytes(board, path, "reg", reg, sizeof(reg));
}

/* Behind the memory of a VM with PCI functions nobody has anything. */
static void room_behind(void **state)
{
	void *t = good_tree();
	uint64_t size = MIB(32);

	(void)state;
	test_host = NULL;
	set_u64(t, ALPHA, "memory", size);
	assert_int_equal(accepted(t)->vms[1].host_base, FIRST + size);
	node(t, ALPHA "/devices");
	set_string(t, ALPHA "/devices/disk", "pci", "00:01.0");
	set_string(t, ALPHA "/devices/disk", "dma", "isolated");
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST);
	assert_int_equal(accepted(t)->vms[1].host_base, FIRST + size + MIB(2));
	/* Chosen memory that begins too near. */
	AT(t, BETA, FIRST + size + MIB(2), MIB(2));
	delete_prop(t, BETA, "memory");
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST);
	AT(t, BETA, FIRST + size, MIB(2));
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + size + MIB(2));
	/* Both are chosen. */
	delete_prop(t, ALPHA, "memory");
	AT(t, ALPHA, FIRST + MIB(32), MIB(32), FIRST + MIB(68), MIB(2));
	AT(t, BETA, FIRST + MIB(66), MIB(2));
	assert_int_equal(accepted(t)->n_vms, 2);
	AT(t, BETA, FIRST + MIB(64), MIB(2));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/alpha: memory-at: 2 MiB behind 0x86000000 have to be free, where beta is: "
	        "the VM has PCI functions");
	AT(t, BETA, FIRST + MIB(70), MIB(2));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/alpha: memory-at: 2 MiB behind 0x86600000 have to be free, where beta is: "
	        "the VM has PCI functions");
	AT(t, BETA, FIRST, MIB(2));
	AT(t, ALPHA, FIRST + MIB(94), MIB(32));
	assert_int_equal(accepted(t)->n_vms, 2);
	AT(t, ALPHA, FIRST + MIB(96), MIB(32));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/alpha: memory-at: 2 MiB behind 0x8a000000 have to be free, where the VM tree "
	        "is: the VM has PCI functions");
	/* The same where it has none. */
	delete_node(t, ALPHA "/devices");
	assert_int_equal(accepted(t)->n_vms, 2);
	delete_prop(t, ALPHA, "memory-at");
	set_u64(t, ALPHA, "memory", MIB(126));
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + MIB(2));
	node(t, ALPHA "/devices");
	set_string(t, ALPHA "/devices/disk", "pci", "00:01.0");
	set_string(t, ALPHA "/devices/disk", "dma", "isolated");
	refused(
	    t, VM_REFUSED_MEMORY_ROOM,
	    "/vms/alpha: memory: no 126 MiB in one piece are left beside the memory of the VMs, "
	    "/reserved-memory and the VM tree; at most 124");
}

static void kept_behind(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("plic");
	node(t, ALPHA "/devices");
	set_string(t, ALPHA "/devices/disk", "pci", "00:01.0");
	set_string(t, ALPHA "/devices/disk", "dma", "isolated");
	delete_prop(t, ALPHA, "memory");
	AT(t, ALPHA, FIRST + MIB(64), MIB(32));
	reserve("keep@88000000", FIRST + MIB(98), 0x1000);
	assert_int_equal(accepted(t)->n_vms, 2);
	reserve("keep@88000000", FIRST + MIB(97), 0x1000);
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/alpha: memory-at: 2 MiB behind 0x88000000 have to be free, where "
	        "keep@88000000 is: the VM has PCI functions");
}

/* What the host's tree keeps is nobody's, wherever it begins and ends. */
static void reserved_memory(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("plic");
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST);
	reserve("early@82000000", FIRST, 4096);
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + MIB(2));
	reserve("late@86000fff", FIRST + MIB(64) - 1, 1);
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST + MIB(64));
	AT(t, BETA, FIRST + MIB(2), MIB(2));
	assert_int_equal(accepted(t)->vms[1].host_base, FIRST + MIB(2));
	AT(t, BETA, FIRST + MIB(62), MIB(2));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x85e00000 overlaps "
	        "/reserved-memory/late@86000fff of the host's tree, up to 0x86000000");
	delete_prop(t, BETA, "memory-at");
	set_u64(t, ALPHA, "memory", MIB(66));
	refused(t, VM_REFUSED_MEMORY_ROOM,
	        "/vms/alpha: memory: no 66 MiB in one piece are left beside the memory of the VMs, "
	        "/reserved-memory and the VM tree; at most 64");
	/* One that is disabled, and one that may lie anywhere, keep nothing. */
	set_string(board, "/reserved-memory/late@86000fff", "status", "disabled");
	delete_prop(board, "/reserved-memory/early@82000000", "reg");
	assert_int_equal(accepted(t)->vms[0].host_base, FIRST);
	test_host = NULL;
}

static void bad_numbers(void **state)
{
	static const uint8_t odd[24];
	void *t = good_tree();

	(void)state;
	set_bytes(t, BETA, "memory-at", odd, 8);
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: memory-at: is 8 bytes long, not pairs of address and size, 16 bytes "
	        "each");
	set_bytes(t, BETA, "memory-at", odd, 24);
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: memory-at: is 24 bytes long, not pairs of address and size, 16 bytes "
	        "each");
	set_bytes(t, BETA, "memory-at", odd, 0);
	refused(t, VM_REFUSED_MEMORY, "/vms/beta: memory-at: names no memory");
	AT(t, BETA, 0x83000000, MIB(2), 0x84000000, MIB(2), 0x85000000, MIB(2), 0x86000000, MIB(2),
	   0x87000000, MIB(2));
	refused(t, VM_REFUSED_TOO_MANY, "/vms/beta: memory-at: names 5 pieces, more than 4");
	AT(t, BETA, 0x83001000, MIB(2));
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory-at: 0x83001000 is not a multiple of 2 MiB");
	AT(t, BETA, 0x83000000, 0);
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory-at: 0 bytes at 0x83000000 are not a positive multiple of 2 MiB");
	AT(t, BETA, 0x84000000, MIB(2), 0x83000000, MIB(1));
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory-at: 1048576 bytes at 0x83000000 are not a positive multiple of "
	        "2 MiB");
	AT(t, BETA, 0x83000000, MIB(4));
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory: 2097152 bytes are not the 4194304 of memory-at");
	set_u64(t, BETA, "memory", MIB(1));
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory: 1048576 bytes is not a positive multiple of 2 MiB");
}

static void where_there_is_none(void **state)
{
	void *t = good_tree();

	(void)state;
	AT(t, BETA, 0x7fe00000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_RAM,
	        "/vms/beta: memory-at: the memory at 0x7fe00000 is no RAM that Tally uses, which "
	        "begins at "
	        "0x80000000");
	AT(t, BETA, 0x8a200000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_RAM,
	        "/vms/beta: memory-at: the memory at 0x8a200000 begins behind the end of RAM, "
	        "0x8a200000");
	AT(t, BETA, 0x8a000000, MIB(4));
	refused(t, VM_REFUSED_MEMORY_RAM,
	        "/vms/beta: memory-at: the memory at 0x8a000000 goes on behind the end of RAM, "
	        "0x8a200000");
	AT(t, BETA, 0xffffffffffe00000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_RAM,
	        "/vms/beta: memory-at: the memory at 0xffffffffffe00000 begins behind the end of "
	        "RAM, 0x8a200000");
	/* Its end wraps to where there is RAM. */
	AT(t, BETA, 0x84000000, 0ULL - MIB(2));
	refused(t, VM_REFUSED_MEMORY_RAM,
	        "/vms/beta: memory-at: the memory at 0x84000000 goes on behind the end of RAM, "
	        "0x8a200000");
	AT(t, BETA, 0x80000000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x80000000 begins in what Tally keeps of RAM, "
	        "up to 0x82000000");
	AT(t, BETA, 0x81e00000, MIB(8));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x81e00000 begins in what Tally keeps of RAM, "
	        "up to 0x82000000");
	AT(t, BETA, 0x8a000000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x8a000000 begins in the VM tree, up to "
	        "0x8a200000");
	AT(t, BETA, 0x89e00000, MIB(4));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x89e00000 reaches the VM tree, which begins "
	        "at 0x8a000000");
	/* The second piece is looked at, too. */
	AT(t, BETA, 0x83000000, MIB(2), 0x80000000, MIB(2));
	refused(t, VM_REFUSED_MEMORY_KEPT,
	        "/vms/beta: memory-at: the memory at 0x80000000 begins in what Tally keeps of RAM, "
	        "up to 0x82000000");
}

static void given_twice(void **state)
{
	void *t = good_tree();

	(void)state;
	AT(t, BETA, 0x83000000, MIB(4), 0x83200000, MIB(4));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/beta: memory-at: the pieces at 0x83000000 and 0x83200000 overlap");
	AT(t, BETA, 0x83000000, MIB(2), 0x84000000, MIB(2), 0x83000000, MIB(2));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/beta: memory-at: the pieces at 0x83000000 and 0x83000000 overlap");
	AT(t, BETA, 0x83200000, MIB(2), 0x83000000, MIB(8));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/beta: memory-at: the pieces at 0x83200000 and 0x83000000 overlap");
	delete_prop(t, ALPHA, "memory");
	AT(t, ALPHA, 0x86000000, MIB(2), 0x83000000, MIB(16));
	AT(t, BETA, 0x85000000, MIB(2), 0x83e00000, MIB(4));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/beta: memory-at: the memory at 0x83e00000 overlaps that of alpha");
	AT(t, BETA, 0x86000000, MIB(2));
	refused(t, VM_REFUSED_OVERLAP,
	        "/vms/beta: memory-at: the memory at 0x86000000 overlaps that of alpha");
	/* Two that touch, of two VMs, stay two. */
	AT(t, BETA, 0x86200000, MIB(2));
	assert_int_equal(accepted(t)->vms[0].n_pieces, 2);
}

/* RAM that goes from 0 to beyond what the second stage translates. */
static void where_a_vm_has_none(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = good_tree();

	(void)state;
	limits.ram = (struct vm_ram){.n = 1, .banks = {{0, 1ULL << 42}}, .tally = 0};
	tree_at_the_end(&limits.ram, 1, &limits.guests);
	AT(t, BETA, 0xc000000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_GUEST,
	           "/vms/beta: memory-at: the memory at 0xc000000 covers the VM's own interrupt "
	           "controller, at 0xc000000");
	AT(t, BETA, 0xc200000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_GUEST,
	           "/vms/beta: memory-at: the memory at 0xc200000 covers the VM's own interrupt "
	           "controller, at 0xc000000");
	AT(t, BETA, 0x10000000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_GUEST,
	           "/vms/beta: memory-at: the memory at 0x10000000 covers the VM's own UART, at "
	           "0x10000000");
	AT(t, BETA, 0x1ffffe00000, MIB(4));
	refused_on(
	    &limits, t, VM_REFUSED_MEMORY_GUEST,
	    "/vms/beta: memory-at: the memory at 0x1ffffe00000 goes on behind 0x20000000000, "
	    "where no VM has addresses");
	AT(t, BETA, 0x30000000000, MIB(2));
	refused_on(
	    &limits, t, VM_REFUSED_MEMORY_GUEST,
	    "/vms/beta: memory-at: the memory at 0x30000000000 goes on behind 0x20000000000, "
	    "where no VM has addresses");
	delete_prop(t, BETA, "memory");
	AT(t, BETA, 0xbe00000, MIB(2), 0xc400000, MIB(2), 0x10200000, MIB(2), 0x1ffffe00000,
	   MIB(2));
	assert_int_equal(accepted_on(&limits, t)->vms[1].n_pieces, 4);
}

/* RAM with nothing left in it. */
static void nothing_for_guests(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = good_tree();

	(void)state;
	limits.ram.banks[0].to = 0x82200000;
	tree_at_the_end(&limits.ram, MIB(4), &limits.guests);
	AT(t, ALPHA, 0x82000000, MIB(2));
	/* Nor is there memory for the other VM. */
	refused_first_on(
	    &limits, t, VM_REFUSED_MEMORY_KEPT,
	    "/vms/alpha: memory-at: the memory at 0x82000000 begins in the VM tree, up to "
	    "0x82200000");
	limits.ram.banks[0].to = 0x81000000;
	tree_at_the_end(&limits.ram, 1, &limits.guests);
	AT(t, ALPHA, 0x80800000, MIB(2));
	refused_first_on(
	    &limits, t, VM_REFUSED_MEMORY_KEPT,
	    "/vms/alpha: memory-at: the memory at 0x80800000 begins in what Tally keeps of "
	    "RAM, up to 0x81000000");
}

/* A machine with four banks: Tally is high in the second, the third is one step. */
static struct vm_limits four_banks(void)
{
	struct vm_limits limits = test_limits;

	limits.ram = (struct vm_ram){.n = 4,
	                             .banks = {{0x40000000, 0x44000000},
	                                       {0x80001000, 0x8a200000},
	                                       {0x90000000, 0x90200000},
	                                       {0x100000000, 0x110000000}},
	                             .tally = 0x82000000};
	tree_at_the_end(&limits.ram, MIB(2), &limits.guests);
	return limits;
}

static void in_several_banks(void **state)
{
	struct vm_limits limits = four_banks();
	const struct vm_tree *tree;
	void *t = good_tree();

	(void)state;
	/* Not chosen: alpha's 64 MiB are all of the first bank. beta's two are before Tally. */
	tree = accepted_on(&limits, t);
	assert_int_equal(tree->vms[0].host_base, 0x40000000);
	assert_int_equal(tree->vms[1].host_base, 0x80200000);
	set_u64(t, ALPHA, "memory", MIB(66));
	tree = accepted_on(&limits, t);
	assert_int_equal(tree->vms[0].host_base, 0x84000000);
	assert_int_equal(tree->vms[1].host_base, 0x40000000);
	set_u64(t, ALPHA, "memory", MIB(98));
	assert_int_equal(accepted_on(&limits, t)->vms[0].host_base, 0x100000000);
	set_u64(t, ALPHA, "memory", MIB(258));
	refused_on(&limits, t, VM_REFUSED_MEMORY_ROOM,
	           "/vms/alpha: memory: no 258 MiB in one piece are left in a bank of RAM; at most "
	           "256");
	set_u64(t, ALPHA, "memory", MIB(64));
	/* Chosen in each, up to its ends, and on both sides of Tally. */
	delete_prop(t, BETA, "memory");
	AT(t, BETA, 0x43e00000, MIB(2), 0x81e00000, MIB(2), 0x84000000, MIB(2), 0x90000000, MIB(2));
	tree = accepted_on(&limits, t);
	assert_int_equal(tree->vms[1].n_pieces, 4);
	assert_int_equal(tree->vms[0].host_base, 0x84200000);
	AT(t, BETA, 0x3fe00000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_RAM,
	           "/vms/beta: memory-at: the memory at 0x3fe00000 is no RAM that Tally uses, "
	           "which begins at "
	           "0x40000000");
	AT(t, BETA, 0x43e00000, MIB(4));
	refused_on(
	    &limits, t, VM_REFUSED_MEMORY_RAM,
	    "/vms/beta: memory-at: the memory at 0x43e00000 goes on behind 0x44000000, where "
	    "its bank of RAM ends");
	AT(t, BETA, 0x44000000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_RAM,
	           "/vms/beta: memory-at: the memory at 0x44000000 is no RAM that Tally uses, "
	           "which goes on at "
	           "0x80001000");
	/* The first bytes of the step are none. */
	AT(t, BETA, 0x80000000, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_RAM,
	           "/vms/beta: memory-at: the memory at 0x80000000 is no RAM that Tally uses, "
	           "which goes on at "
	           "0x80001000");
	AT(t, BETA, 0x81e00000, MIB(4));
	refused_on(
	    &limits, t, VM_REFUSED_MEMORY_KEPT,
	    "/vms/beta: memory-at: the memory at 0x81e00000 reaches what Tally keeps of RAM, "
	    "from 0x82000000");
	AT(t, BETA, 0x83e00000, MIB(4));
	refused_on(&limits, t, VM_REFUSED_MEMORY_KEPT,
	           "/vms/beta: memory-at: the memory at 0x83e00000 begins in what Tally keeps of "
	           "RAM, up to 0x84000000");
	AT(t, BETA, 0x89e00000, MIB(4));
	refused_on(
	    &limits, t, VM_REFUSED_MEMORY_KEPT,
	    "/vms/beta: memory-at: the memory at 0x89e00000 reaches the VM tree, which begins "
	    "at 0x8a000000");
	AT(t, BETA, 0x10fe00000, MIB(4));
	refused_on(&limits, t, VM_REFUSED_MEMORY_RAM,
	           "/vms/beta: memory-at: the memory at 0x10fe00000 goes on behind the end of RAM, "
	           "0x110000000");
}

/* HS has no pointer to address 0, so no VM has memory there. */
static void nobody_has_address_0(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	limits.ram = (struct vm_ram){
	    .n = 2, .banks = {{0, 0x8000000}, {0x80000000, 0x82200000}}, .tally = 0x80000000};
	tree_at_the_end(&limits.ram, MIB(2), &limits.guests);
	assert_int_equal(limits.guests.ranges[0].from, MIB(2));
	assert_int_equal(accepted_on(&limits, t)->vms[0].host_base, MIB(2));
	delete_prop(t, BETA, "memory");
	AT(t, BETA, 0, MIB(2));
	refused_on(&limits, t, VM_REFUSED_MEMORY_KEPT,
	           "/vms/beta: memory-at: address 0 is for no VM");
	/* Tally keeps the first bytes of its own bank, or is high in it. */
	limits.ram = (struct vm_ram){.n = 1, .banks = {{0, 0x20000000}}};
	tree_at_the_end(&limits.ram, MIB(2), &limits.guests);
	assert_int_equal(limits.guests.ranges[0].from, VM_RESERVED_MEMORY);
	limits.ram.tally = 0x10000000;
	tree_at_the_end(&limits.ram, MIB(2), &limits.guests);
	assert_int_equal(limits.guests.ranges[0].from, MIB(2));
	assert_int_equal(limits.guests.ranges[0].to, 0x10000000);
}

/* What is kept up to the end of all addresses leaves nothing behind it. */
static void kept_to_the_end(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = good_tree();

	(void)state;
	use_board("plic");
	limits.ram = (struct vm_ram){
	    .n = 2,
	    .banks = {{0x80000000, 0x86200000}, {0xfffffffff7e00000, 0xffffffffffe00000}},
	    .tally = 0x80000000};
	tree_at_the_end(&limits.ram, MIB(2), &limits.guests);
	reserve("keep", 0xfffffffff8000000, 0x7ffffff);
	limits.host_tree = board;
	set_u64(t, BETA, "memory", MIB(4));
	refused_on(&limits, t, VM_REFUSED_MEMORY_ROOM,
	           "/vms/beta: memory: no 4 MiB in one piece are left in a bank of RAM; at most "
	           "2");
	test_host = NULL;
}

/* What has to be free behind the memory of a VM with PCI functions is RAM, too. */
static void room_behind_in_several_banks(void **state)
{
	struct vm_limits limits = four_banks();
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	node(t, ALPHA "/devices");
	set_string(t, ALPHA "/devices/disk", "pci", "00:01.0");
	set_string(t, ALPHA "/devices/disk", "dma", "isolated");
	assert_int_equal(accepted_on(&limits, t)->vms[0].host_base, 0x84000000);
	AT(t, ALPHA, 0x40000000, MIB(64));
	refused_on(
	    &limits, t, VM_REFUSED_OVERLAP,
	    "/vms/alpha: memory-at: 2 MiB behind 0x44000000 have to be free, where no RAM is: "
	    "the VM has PCI functions");
	/* The last byte is RAM again. */
	limits.ram.banks[1].from = 0x441ff000;
	refused_on(
	    &limits, t, VM_REFUSED_OVERLAP,
	    "/vms/alpha: memory-at: 2 MiB behind 0x44000000 have to be free, where no RAM is: "
	    "the VM has PCI functions");
	limits = four_banks();
	AT(t, ALPHA, 0x40000000, MIB(62), 0x81e00000, MIB(2));
	refused_on(
	    &limits, t, VM_REFUSED_OVERLAP,
	    "/vms/alpha: memory-at: 2 MiB behind 0x82000000 have to be free, where Tally is: "
	    "the VM has PCI functions");
	AT(t, ALPHA, 0x100000000, MIB(64));
	assert_int_equal(accepted_on(&limits, t)->vms[0].host_base, 0x100000000);
}

/* Kernel, initrd and device tree have to be in one piece. */
static void images_in_the_first(void **state)
{
	void *t = good_tree();

	(void)state;
	delete_prop(t, ALPHA, "memory");
	AT(t, ALPHA, 0x83000000, MIB(10), 0x84000000, MIB(64));
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/alpha: kernel: 8388608 bytes at offset 2097152 do not fit into the lowest "
	        "piece of memory-at");
	AT(t, ALPHA, 0x83000000, MIB(12), 0x84000000, MIB(64));
	assert_int_equal(accepted(t)->vms[0].dtb_offset, MIB(12) - 65536);
	set_image_field(t, "image_size", MIB(10) - 65536);
	refused(t, VM_REFUSED_INITRD_FIT,
	        "/vms/alpha: initrd: 5000 bytes do not fit behind the kernel, which ends at offset "
	        "12517376 of the lowest piece of memory-at");
	AT(t, ALPHA, 0x83000000, MIB(10));
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/alpha: kernel: 10420224 bytes at offset 2097152 do not fit into the VM's "
	        "memory");
}

int test_vm_memory(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_piece),
	    cmocka_unit_test(several_pieces),
	    cmocka_unit_test(to_the_ends),
	    cmocka_unit_test(around_the_chosen),
	    cmocka_unit_test(no_room),
	    cmocka_unit_test(room_behind),
	    cmocka_unit_test(kept_behind),
	    cmocka_unit_test(reserved_memory),
	    cmocka_unit_test(bad_numbers),
	    cmocka_unit_test(where_there_is_none),
	    cmocka_unit_test(given_twice),
	    cmocka_unit_test(where_a_vm_has_none),
	    cmocka_unit_test(nothing_for_guests),
	    cmocka_unit_test(in_several_banks),
	    cmocka_unit_test(nobody_has_address_0),
	    cmocka_unit_test(kept_to_the_end),
	    cmocka_unit_test(room_behind_in_several_banks),
	    cmocka_unit_test(images_in_the_first),
	};

	return cmocka_run_group_tests_name("vm tree: memory", tests, NULL, NULL);
}
