/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the VM tree's parser refuses, in its exact words; each code at least once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/tree/parse.h"
#include "core/tree/vm_groups.h"
#include "tests/host/vm_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define ALPHA  "/vms/alpha"
#define BETA   "/vms/beta"
#define VCPU0  "/vms/beta/vcpu0"

static void blob_refused(const void *blob, uint64_t size, const char *text)
{
	struct vm_tree tree;
	struct vm_refusal why;
	char got[VM_REFUSAL_TEXT];

	assert_false(vm_config_parse(blob, size, &test_limits, &tree, &why));
	vm_refusal_text(&why, got, sizeof(got));
	assert_string_equal(got, text);
	assert_int_equal(why.code, VM_REFUSED_BLOB);
}

static void blob_is_no_device_tree(void **state)
{
	static _Alignas(8) const uint8_t zero[4096];
	uint8_t *t = good_tree();
	uint32_t size = fdt_totalsize(t);

	(void)state;
	blob_refused(zero, sizeof(zero), "/: is not a device tree blob");
	blob_refused(t, 0, "/: is cut short");
	blob_refused(t, 39, "/: is cut short");
	blob_refused(t, size - 1, "/: is cut short");
	fdt_set_version(t, 16);
	blob_refused(t, size, "/: has a version of the format other than 17");
	t = good_tree();
	fdt_set_off_dt_struct(t, fdt_off_dt_struct(t) + 2);
	blob_refused(t, size, "/: is not aligned");
	t = good_tree();
	t[fdt_off_dt_struct(t) + fdt_size_dt_struct(t) - 1] = 1; /* FDT_END */
	blob_refused(t, size, "/: is broken inside");
	t = good_tree();
	fdt_set_size_dt_strings(t, 4097);
	blob_refused(t, size, "/: has more names of properties than any VM tree needs");
	refused(t, VM_REFUSED_BLOB, "/: has more names of properties than any VM tree needs");
}

/* What the editing functions refuse to make, the writing ones make: they do not look back. */
static void *begin_tree(void)
{
	static _Alignas(8) uint8_t t[TREE_BUFFER];

	assert_int_equal(fdt_create(t, sizeof(t)), 0);
	assert_int_equal(fdt_finish_reservemap(t), 0);
	assert_int_equal(fdt_begin_node(t, ""), 0);
	assert_int_equal(fdt_property_string(t, "compatible", "tally,vm-tree-1"), 0);
	return t;
}

static void *end_tree(void *t)
{
	assert_int_equal(fdt_end_node(t), 0);
	assert_int_equal(fdt_finish(t), 0);
	return t;
}

static void empty_node(void *t, const char *name)
{
	assert_int_equal(fdt_begin_node(t, name), 0);
	assert_int_equal(fdt_end_node(t), 0);
}

static void property_after_child(void **state)
{
	void *t = begin_tree();

	(void)state;
	empty_node(t, "images");
	assert_int_equal(fdt_property_string(t, "late", "x"), 0);
	refused(end_tree(t), VM_REFUSED_BLOB, "/: has a property after a child node");
}

static void things_given_twice(void **state)
{
	static const uint8_t twice[] = {0, 0, 0, 2, 0, 0, 0, 2};
	void *t = begin_tree();

	(void)state;
	empty_node(t, "images");
	empty_node(t, "images");
	refused(end_tree(t), VM_REFUSED_DUPLICATE, "/images: is there twice");

	t = begin_tree();
	assert_int_equal(fdt_property_string(t, "compatible", "tally,vm-tree-1"), 0);
	/* It has no nodes either. */
	refused_first(end_tree(t), VM_REFUSED_DUPLICATE, "/: compatible: is given twice");

	t = good_tree();
	assert_int_equal(fdt_set_name(t, node(t, BETA), "alpha"), 0);
	refused(t, VM_REFUSED_DUPLICATE, "/vms/alpha: two VMs have this name");

	t = good_tree();
	set_bytes(t, VCPU0, "harts", twice, sizeof(twice));
	refused(t, VM_REFUSED_DUPLICATE, "/vms/beta/vcpu0: harts: names 2 twice");

	t = good_tree();
	set_bytes(t, BETA, "pmu-counters", twice, sizeof(twice));
	refused(t, VM_REFUSED_DUPLICATE, "/vms/beta: pmu-counters: names 2 twice");

	t = good_tree();
	set_u32(t, "/images/cpio", "phandle", RAW_PHANDLE);
	refused(t, VM_REFUSED_DUPLICATE, "/images/cpio: phandle: belongs to another image too");
}

static void other_compatible(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, "/", "compatible", "tally,vm-tree-2");
	refused(t, VM_REFUSED_COMPATIBLE, "/: compatible: is not \"tally,vm-tree-1\"");
	set_string(t, "/", "compatible", "riscv-virtio");
	set_string(t, "/", "model", "some board");
	refused(t, VM_REFUSED_COMPATIBLE, "/: compatible: is not \"tally,vm-tree-1\"");
	delete_prop(t, "/", "compatible");
	refused(t, VM_REFUSED_COMPATIBLE, "/: compatible: is not \"tally,vm-tree-1\"");
	set_bytes(t, "/", "compatible", "tally,vm-tree-1", 15);
	refused(t, VM_REFUSED_COMPATIBLE, "/: compatible: is not \"tally,vm-tree-1\"");
}

static void unknown_nodes(void **state)
{
	static const struct {
		const char *path;
		const char *text;
	} cases[] = {
	    {"/chosen", "/chosen: no node of this name belongs here"},
	    {"/vmss", "/vmss: no node of this name belongs here"},
	    {"/images/raw/x", "/images/raw/x: no node belongs here"},
	    {VCPU0 "/x", "/vms/beta/vcpu0/x: no node belongs here"},
	    {"/images/raw/control\x1b[2J", "/images/raw/control?[2J: no node belongs here"},
	    {"/images/raw/a-name-as-long-as-a-path-may-be-and-longer-than-the-room-for-it",
	     ".../a-name-as-long-as-a-path-may-be-and-longer-than-the-room-fo: no node belongs "
	     "here"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = good_tree();

		node(t, cases[i].path);
		refused(t, VM_REFUSED_UNKNOWN_NODE, cases[i].text);
	}
}

static void unknown_properties(void **state)
{
	static const struct {
		const char *path;
		const char *name;
		const char *text;
	} cases[] = {
	    {"/", "model", "/: model: is not a property of this node"},
	    {"/images", "data", "/images: data: is not a property of this node"},
	    {"/images/raw", "date",
	     "/images/raw: date: is not a property of this node; did you mean data?"},
	    {"/vms", "memory", "/vms: memory: is not a property of this node"},
	    {BETA, "harts", "/vms/beta: harts: is not a property of this node"},
	    {BETA, "consol",
	     "/vms/beta: consol: is not a property of this node; did you mean console?"},
	    {VCPU0, "hart",
	     "/vms/beta/vcpu0: hart: is not a property of this node; did you mean harts?"},
	    {VCPU0, "hrats",
	     "/vms/beta/vcpu0: hrats: is not a property of this node; did you mean harts?"},
	    {VCPU0, "harrts",
	     "/vms/beta/vcpu0: harrts: is not a property of this node; did you mean harts?"},
	    {"/vms", "turn", "/vms: turn: is not a property of this node; did you mean turn-us?"},
	    {BETA, "heartbeat",
	     "/vms/beta: heartbeat: is not a property of this node; did you mean heartbeat-ms?"},
	    {BETA, "limit",
	     "/vms/beta: limit: is not a property of this node; did you mean restart-limit?"},
	    {BETA, "memory-size",
	     "/vms/beta: memory-size: is not a property of this node; did you mean memory?"},
	    {BETA, "pmu-overflw-limit",
	     "/vms/beta: pmu-overflw-limit: is not a property of this node; did you mean "
	     "pmu-overflow-limit?"},
	    {VCPU0, "h", "/vms/beta/vcpu0: h: is not a property of this node"},
	    {BETA, "a-name-longer-than-the-thirty-one-characters",
	     "/vms/beta: a-name-longer-than-the-thirty-o: is not a property of this node"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = good_tree();

		set_u32(t, cases[i].path, cases[i].name, 0);
		refused(t, VM_REFUSED_UNKNOWN_PROPERTY, cases[i].text);
	}
}

static void missing_nodes(void **state)
{
	void *t = good_tree();

	(void)state;
	delete_node(t, "/vms");
	refused(t, VM_REFUSED_MISSING_NODE, "/: has no node /vms");
	t = good_tree();
	delete_node(t, "/images");
	refused(t, VM_REFUSED_MISSING_NODE, "/: has no node /images");
}

static void missing_properties(void **state)
{
	static const struct {
		const char *path;
		const char *name;
		const char *text;
	} cases[] = {
	    {"/images/cpio", "data", "/images/cpio: data: is missing"},
	    {ALPHA, "memory", "/vms/alpha: memory: is missing"},
	    {BETA, "kernel", "/vms/beta: kernel: is missing"},
	    {VCPU0, "harts", "/vms/beta/vcpu0: harts: is missing"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = good_tree();

		delete_prop(t, cases[i].path, cases[i].name);
		refused(t, VM_REFUSED_MISSING_PROPERTY, cases[i].text);
	}
}

static void wrong_sizes(void **state)
{
	static const uint8_t zero[16];
	static const struct {
		const char *path;
		const char *name;
		int size;
		const char *text;
	} cases[] = {
	    {ALPHA, "memory", 4,
	     "/vms/alpha: memory: is 4 bytes long, not 8: one 64-bit number, two cells"},
	    {ALPHA, "memory", 0,
	     "/vms/alpha: memory: is 0 bytes long, not 8: one 64-bit number, two cells"},
	    {BETA, "load-offset", 12,
	     "/vms/beta: load-offset: is 12 bytes long, not 8: one 64-bit number, two cells"},
	    {BETA, "kernel", 8, "/vms/beta: kernel: is 8 bytes long, not 4: one cell"},
	    {BETA, "initrd", 0, "/vms/beta: initrd: is 0 bytes long, not 4: one cell"},
	    {"/images/raw", "phandle", 5, "/images/raw: phandle: is 5 bytes long, not 4: one cell"},
	    {VCPU0, "harts", 6,
	     "/vms/beta/vcpu0: harts: is 6 bytes long, not a list of cells of 4"},
	    {VCPU0, "harts", 0, "/vms/beta/vcpu0: harts: names no hart"},
	    {BETA, "pmu-counters", 3,
	     "/vms/beta: pmu-counters: is 3 bytes long, not a list of cells of 4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = good_tree();

		set_bytes(t, cases[i].path, cases[i].name, zero, cases[i].size);
		refused(t, VM_REFUSED_SIZE, cases[i].text);
	}
}

static void bad_strings(void **state)
{
	static const char *const names[] = {"bootargs",   "console",         "pmu",
	                                    "interrupts", "pmu-reads",       "pmu-snapshot",
	                                    "pmu-freeze", "pmu-idle-cycles", "pmu-overflow",
	                                    "machine"};
	static char longest[1025];
	void *t;
	char text[VM_REFUSAL_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "/vms/beta: %s: is not one string", names[i]);
		t = good_tree();
		set_bytes(t, BETA, names[i], "on", 2);
		refused(t, VM_REFUSED_STRING, text);
		set_bytes(t, BETA, names[i], "on\0off", 7);
		refused(t, VM_REFUSED_STRING, text);
		set_bytes(t, BETA, names[i], "", 0);
		refused(t, VM_REFUSED_STRING, text);
	}
	t = good_tree();
	memset(longest, 'x', 1023);
	set_string(t, BETA, "bootargs", longest);
	assert_int_equal(strlen(accepted(t)->vms[1].bootargs), 1023);
	memset(longest, 'x', 1024);
	set_string(t, BETA, "bootargs", longest);
	refused(t, VM_REFUSED_STRING, "/vms/beta: bootargs: is 1024 bytes long, more than 1023");
}

static void bad_words(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, BETA, "console", "On");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: console: is not \"on\" or \"off\"");
	set_string(t, BETA, "console", "on");
	set_string(t, BETA, "pmu", "okay");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: pmu: is not \"on\" or \"off\"");
	set_string(t, BETA, "pmu", "off");
	set_string(t, BETA, "pmu-reads", "traps");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: pmu-reads: is not \"direct\" or \"trap\"");
}

static void bad_names(void **state)
{
	static const char *const names[] = {"Beta", "beta@1", "b_", "sixteen-letters0", ""};
	char text[VM_REFUSAL_TEXT];
	void *t;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		t = good_tree();
		assert_int_equal(fdt_set_name(t, node(t, BETA), names[i]), 0);
		snprintf(text, sizeof(text),
		         "/vms/%s: the name of a VM is 1 to 15 characters of a-z, 0-9 and -",
		         names[i]);
		refused(t, VM_REFUSED_NAME, text);
	}
	t = good_tree();
	assert_int_equal(fdt_set_name(t, node(t, BETA), "fifteen-letters"), 0);
	assert_string_equal(accepted(t)->vms[1].name, "fifteen-letters");

	t = good_tree();
	assert_int_equal(fdt_set_name(t, node(t, ALPHA "/vcpu1"), "vcpu2"), 0);
	refused(t, VM_REFUSED_NO_VCPU,
	        "/vms/alpha/vcpu2: vcpus are vcpu0, vcpu1 and so on: vcpu1 belongs here");
}

static void nothing_to_run(void **state)
{
	void *t = good_tree();

	(void)state;
	delete_node(t, VCPU0);
	refused(t, VM_REFUSED_NO_VCPU, "/vms/beta: has no vcpu");
	t = good_tree();
	delete_node(t, ALPHA);
	delete_node(t, BETA);
	refused(t, VM_REFUSED_NO_VM, "/vms: there is no VM to run");
}

static void too_many(void **state)
{
	void *t = good_tree();
	char path[48];

	(void)state;
	for (int i = 8; i >= 1; i--) {
		snprintf(path, sizeof(path), BETA "/vcpu%d", i);
		set_u32(t, path, "harts", 0);
	}
	assert_int_equal(fdt_nop_node(t, node(t, VCPU0)), 0);
	set_u32(t, VCPU0, "harts", 0);
	refused(t, VM_REFUSED_TOO_MANY, "/vms/beta/vcpu8: is one vcpu more than 8");

	t = good_tree();
	for (int i = 0; i < 15; i++) {
		snprintf(path, sizeof(path), "/vms/vm%d", i);
		set_u64(t, path, "memory", MIB(2));
		set_u32(t, path, "kernel", RAW_PHANDLE);
		snprintf(path, sizeof(path), "/vms/vm%d/vcpu0", i);
		set_u32(t, path, "harts", 0);
	}
	refused(t, VM_REFUSED_TOO_MANY, BETA ": is one VM more than 16");

	/* alpha has 2, these have 8 each; the last of all is beta's only one. */
	t = good_tree();
	for (int i = 0; i < 8; i++) {
		int vcpus = i == 0 ? 6 : 8;

		snprintf(path, sizeof(path), "/vms/vm%d", i);
		set_u64(t, path, "memory", MIB(2));
		set_u32(t, path, "kernel", RAW_PHANDLE);
		for (int vcpu = vcpus - 1; vcpu >= 0; vcpu--) {
			snprintf(path, sizeof(path), "/vms/vm%d/vcpu%d", i, vcpu);
			set_u32(t, path, "harts", 0);
		}
	}
	refused(t, VM_REFUSED_TOO_MANY, VCPU0 ": is one vcpu more than 64 in all VMs together");
	delete_node(t, ALPHA "/vcpu1");
	assert_int_equal(accepted(t)->n_vms, 10);

	t = good_tree();
	for (int i = 0; i < 29; i++) {
		snprintf(path, sizeof(path), "/images/i%d", i);
		set_bytes(t, path, "data", "x", 1);
	}
	assert_int_equal(accepted(t)->n_vms, 2);
	set_u32(t, BETA, "kernel", 99);
	refused(t, VM_REFUSED_PHANDLE, BETA ": kernel: does not refer to a child of /images");
	set_bytes(t, "/images/i29", "data", "x", 1);
	refused(t, VM_REFUSED_TOO_MANY, "/images/cpio: is one image more than 32");
}

static void bad_memory(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u64(t, BETA, "memory", 0);
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory: 0 bytes is not a positive multiple of 2 MiB");
	set_u64(t, BETA, "memory", 1 << 20);
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory: 1048576 bytes is not a positive multiple of 2 MiB");
	set_u64(t, BETA, "memory", MIB(2) + 1);
	refused(t, VM_REFUSED_MEMORY,
	        "/vms/beta: memory: 2097153 bytes is not a positive multiple of 2 MiB");
	set_u64(t, BETA, "memory", MIB(66));
	refused(t, VM_REFUSED_MEMORY_SUM,
	        "/vms/beta: memory: the VMs up to this one need 130 MiB, this machine has 128 MiB");
	set_u64(t, BETA, "memory", MIB(64));
	assert_int_equal(accepted(t)->vms[1].memory, MIB(64));
	/* With alpha's 64 MiB this wraps to 62 MiB. */
	set_u64(t, BETA, "memory", 0ULL - MIB(2));
	refused(t, VM_REFUSED_MEMORY_SUM,
	        "/vms/beta: memory: the VMs up to this one need 17592186044478 MiB, this machine "
	        "has 128 MiB");
}

static void not_on_this_machine(void **state)
{
	static const uint32_t harts[] = {1, 62, 64, 128, UINT32_MAX};
	static const uint32_t counters[] = {1, 6, 32, 64, UINT32_MAX};
	char text[VM_REFUSAL_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(harts) / sizeof(harts[0]); i++) {
		void *t = good_tree();

		set_u32(t, VCPU0, "harts", harts[i]);
		snprintf(text, sizeof(text), VCPU0 ": harts: this machine has no hart %u",
		         harts[i]);
		refused(t, VM_REFUSED_HART, text);
	}
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		void *t = good_tree();

		set_u32(t, BETA, "pmu-counters", counters[i]);
		snprintf(text, sizeof(text), BETA ": pmu-counters: this machine has no counter %u",
		         counters[i]);
		refused(t, VM_REFUSED_COUNTER, text);
		/* It is a mistake even where it has no effect. */
		set_string(t, BETA, "pmu", "off");
		refused(t, VM_REFUSED_COUNTER, text);
	}
}

/* Counter 1 is time, also where nobody knows which counters there are. */
static void told(const void *t, const char *const *words, uint32_t n)
{
	char(*them)[VM_REFUSAL_TEXT];

	assert_int_equal(all_refused_on(&test_limits, t, &them), n);
	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(them[i], words[i]);
}

/* Mistakes in one VM, in several, and in what refers to them. */
static void all_of_them(void **state)
{
	static const char *const one_vm[] = {
	    "/vms/alpha: hart-beat: is not a property of this node",
	    "/vms/alpha: console: is not \"on\" or \"off\"",
	    "/vms/alpha/vcpu0: harts: this machine has no hart 7",
	    "/vms/alpha: pmu-counters: this machine has no counter 19",
	    "/vms/alpha: memory: 1048576 bytes is not a positive multiple of 2 MiB",
	    "/vms/beta: load-offset: 1 is not a multiple of 4096",
	};
	static const char *const gone[] = {
	    "/vms/alpha: memory: is missing",
	    "/vms/beta: restart-limit: 1001 is more than 1000",
	};
	void *t = good_tree();

	(void)state;
	set_u32(t, ALPHA, "hart-beat", 1);
	set_string(t, ALPHA, "console", "of");
	set_u32(t, ALPHA "/vcpu0", "harts", 7);
	set_u32(t, ALPHA, "pmu-counters", 19);
	set_u64(t, ALPHA, "memory", 1 << 20);
	set_u64(t, BETA, "load-offset", 1);
	told(t, one_vm, 6);
	/* Alpha cannot be parsed without it, but that is no reason to refuse its name in beta. */
	t = good_tree();
	delete_prop(t, ALPHA, "memory");
	set_u32(t, BETA, "restart-limit", 1001);
	set_string(t, BETA, "controls", "alpha");
	told(t, gone, 2);
}

/* Twenty are told, the others counted: exactly as long as there are not too many. */
static void more_than_twenty(void **state)
{
	char(*them)[VM_REFUSAL_TEXT];
	char name[32];
	void *t = good_tree();

	(void)state;
	for (uint32_t i = 1; i <= 100; i++) {
		uint32_t n;

		snprintf(name, sizeof(name), "unknown-%u", i);
		set_u32(t, i % 2 ? ALPHA : BETA, name, i);
		n = all_refused_on(&test_limits, t, &them);
		assert_int_equal(n, i <= 20 ? i : 21);
		if (i == 21)
			assert_string_equal(them[20], "and 1 more");
		if (i == 25)
			assert_string_equal(them[20], "and 5 more");
		if (i == 96)
			assert_string_equal(them[20], "and at least 76 more");
	}
	assert_string_equal(them[20], "and at least 77 more");
}

static void time_is_no_counter(void **state)
{
	struct vm_limits limits = test_limits;
	struct vm_tree tree;
	struct vm_refusal why;
	void *t = good_tree();

	(void)state;
	limits.hctrs = 0;
	set_u32(t, BETA, "pmu-counters", 1);
	assert_false(vm_config_parse(t, TREE_BUFFER, &limits, &tree, &why));
	assert_int_equal(why.code, VM_REFUSED_COUNTER);
}

/* A vcpu may move, and what it counts has to be there where it comes to. */
static void harts_that_differ(void **state)
{
	const uint32_t alike[] = {cpu_to_fdt32(63), cpu_to_fdt32(0)};
	const uint32_t other[] = {cpu_to_fdt32(63), cpu_to_fdt32(2)};
	void *t = good_tree();

	(void)state;
	set_bytes(t, VCPU0, "harts", alike, sizeof(alike));
	accepted(t);
	set_bytes(t, VCPU0, "harts", other, sizeof(other));
	refused(t, VM_REFUSED_HARTS,
	        "/vms/beta/vcpu0: harts: harts 63 and 2 have different counters");
	/* Those of different vcpus may. */
	set_u32(t, VCPU0, "harts", 63);
	accepted(t);
}

static void bad_references(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u32(t, BETA, "kernel", 4);
	refused(t, VM_REFUSED_PHANDLE, "/vms/beta: kernel: does not refer to a child of /images");
	/* An image that nobody refers to has no phandle, which is not the phandle 0. */
	delete_prop(t, "/images/raw", "phandle");
	set_u32(t, BETA, "kernel", 0);
	refused(t, VM_REFUSED_PHANDLE, "/vms/beta: kernel: does not refer to a child of /images");
	t = good_tree();
	set_u32(t, ALPHA, "initrd", UINT32_MAX);
	refused(t, VM_REFUSED_PHANDLE, "/vms/alpha: initrd: does not refer to a child of /images");
}

static void refused_file(void *kernel, size_t size, const char *reason)
{
	void *t = good_tree();
	char words[192];

	snprintf(words, sizeof(words), "/vms/beta: kernel: is %s", reason);
	set_bytes(t, "/images/raw", "data", kernel, (int)size);
	refused(t, VM_REFUSED_KERNEL_FILE, words);
}

#define RUNS ": a VM runs an Image, or raw code (objcopy -O binary)"

/* Files that hold a kernel, and code that begins nearly as they do. */
static void files_that_are_no_kernel(void **state)
{
	static const struct {
		size_t at, length;
		const char *magic, *reason;
	} files[] = {
	    {0, 3, "\x1f\x8b\x08", "packed by gzip: unpack it first, with gzip -d"},
	    {0, 6, "\xfd\x37zXZ", "packed by xz: unpack it first, with xz -d"},
	    {0, 4, "\x28\xb5\x2f\xfd", "packed by zstd: unpack it first, with zstd -d"},
	    {0, 4, "\x04\x22\x4d\x18", "packed by lz4: unpack it first, with lz4 -d"},
	    {0, 4, "\x02\x21\x4c\x18", "packed by lz4: unpack it first, with lz4 -d"},
	    {4, 6, "1AY&SY", "packed by bzip2: unpack it first, with bzip2 -d"},
	    {0, 3, "\x5d\0\0", "packed by lzma: unpack it first, with lzma -d"},
	    {0, 4, "\x7f\x45LF", "an ELF file" RUNS},
	    {4, 4, "zimg", "a packed EFI program" RUNS},
	    {56, 4, "ARMd", "an Image for arm64" RUNS},
	    {0x202, 4, "HdrS", "a bzImage for x86" RUNS},
	    {0, 4, "\x27\x05\x19\x56", "a U-Boot image" RUNS},
	    {0, 4, "\xd0\x0d\xfe\xed", "a device tree or FIT" RUNS},
	};
	uint8_t kernel[1024] = {0x4d, 0x5a};
	void *t;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t end = files[i].at + files[i].length;

		memset(kernel, 0x13, sizeof(kernel));
		memcpy(kernel + files[i].at, files[i].magic, files[i].length);
		refused_file(kernel, sizeof(kernel), files[i].reason);
		refused_file(kernel, end, files[i].reason);
		/* One byte less, or another last one, is code. */
		t = good_tree();
		set_bytes(t, "/images/raw", "data", kernel, (int)end - 1);
		assert_false(accepted(t)->vms[1].kernel_is_image);
		kernel[end - 1] ^= 1;
		t = good_tree();
		set_bytes(t, "/images/raw", "data", kernel, sizeof(kernel));
		assert_false(accepted(t)->vms[1].kernel_is_image);
	}
	/* The signature of a PE file is where it says; elsewhere "MZ" is an instruction. */
	memset(kernel, 0x13, sizeof(kernel));
	memcpy(kernel, "MZ", 2);
	memcpy(kernel + 0x3c, "\xfc\3\0", 4);
	t = good_tree();
	set_bytes(t, "/images/raw", "data", kernel, sizeof(kernel));
	assert_false(accepted(t)->vms[1].kernel_is_image);
	memcpy(kernel + 0x3fc, "PE\0", 4);
	refused_file(kernel, sizeof(kernel), "an EFI program" RUNS);
	for (size_t size = 1; size < sizeof(kernel); size++) {
		t = good_tree();
		set_bytes(t, "/images/raw", "data", kernel, (int)size);
		accepted(t);
	}
	memset(kernel + 0x3c, 0xff, 4);
	t = good_tree();
	set_bytes(t, "/images/raw", "data", kernel, sizeof(kernel));
	accepted(t);
	/* An Image of RISC-V is one, whatever it begins with. */
	t = good_tree();
	memcpy(fdt_getprop_w(t, node(t, "/images/linux"), "data", NULL), "\x7f\x45LF", 4);
	assert_true(accepted(t)->vms[0].kernel_is_image);
}

static void bad_images(void **state)
{
	void *t = good_tree();

	(void)state;
	set_bytes(t, "/images/raw", "data", "", 0);
	refused(t, VM_REFUSED_EMPTY_IMAGE, "/images/raw: data: is empty");

	t = good_tree();
	set_image_field(t, "flags", 1);
	refused(t, VM_REFUSED_IMAGE_HEADER,
	        "/vms/alpha: kernel: Image header: a big-endian kernel");
	t = good_tree();
	set_image_field(t, "text_offset", 0x201000);
	refused(t, VM_REFUSED_IMAGE_HEADER,
	        "/vms/alpha: kernel: Image header: text_offset 2101248 is not a multiple of 2 MiB");
	t = good_tree();
	set_image_field(t, "image_size", 0);
	refused(t, VM_REFUSED_IMAGE_HEADER, "/vms/alpha: kernel: Image header: image_size is 0");
	/* Numbers whose sum wraps to something that would fit. */
	t = good_tree();
	set_image_field(t, "image_size", UINT64_MAX - 0x1fffff);
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/alpha: kernel: 18446744073707454464 bytes at offset 2097152 do not fit into "
	        "the VM's memory");
	t = good_tree();
	set_image_field(t, "text_offset", UINT64_MAX - 0x1fffff);
	refused(t, VM_REFUSED_KERNEL_FIT,
	        "/vms/alpha: kernel: 8388608 bytes at offset 18446744073707454464 do not fit into "
	        "the VM's memory");
}

static void bad_load_offset(void **state)
{
	void *t = good_tree();

	(void)state;
	set_u64(t, ALPHA, "load-offset", 0);
	refused(t, VM_REFUSED_LOAD_OFFSET,
	        "/vms/alpha: load-offset: the kernel is an Image, which says itself where it goes");
	t = good_tree();
	set_u64(t, BETA, "load-offset", 4095);
	refused(t, VM_REFUSED_LOAD_OFFSET,
	        "/vms/beta: load-offset: 4095 is not a multiple of 4096");
}

static void initrd_larger_than_memory(void **state)
{
	static uint8_t large[40000];
	void *t = good_tree();

	(void)state;
	set_u64(t, BETA, "load-offset", 0x1e7000);
	set_u32(t, BETA, "initrd", CPIO_PHANDLE);
	set_bytes(t, "/images/cpio", "data", large, sizeof(large));
	refused(t, VM_REFUSED_INITRD_FIT,
	        "/vms/beta: initrd: 40000 bytes do not fit behind the kernel, which ends at offset "
	        "1994852");
}

/* Larger than all of memory, and larger than anything; a tree for this would be 2 MiB long. */
static void initrd_of_any_size(void **state)
{
	struct vm_refusal why;
	struct vm_node n = {.blob = good_tree(), .why = &why};

	(void)state;
	for (unsigned int shift = 21; shift < 64; shift++) {
		struct vm_config vm = {.first_size = MIB(2), .kernel = {"x", 1}};

		vm.initrd = (struct vm_image){"x", 1ULL << shift};
		n.vm = &vm;
		assert_false(vm_layout(&n, false));
		assert_int_equal(why.code, VM_REFUSED_INITRD_FIT);
		assert_string_equal(why.property, "initrd");
	}
}

/* Runs last. */
static void every_code_was_seen(void **state)
{
	(void)state;
	for (unsigned int code = VM_ACCEPTED + 1; code < VM_REFUSAL_CODES; code++)
		assert_true(was_refused((enum vm_refusal_code)code));
}

static void text_is_cut(void **state)
{
	const struct vm_refusal why = {VM_REFUSED_NAME, 0, "", "/vms/x", "", "is bad"};
	char text[] = "0123456789abcdef";

	(void)state;
	vm_refusal_text(&why, text, 1);
	assert_string_equal(text, "");
	vm_refusal_text(&why, text, 9);
	assert_string_equal(text, "/vms/x: ");
	assert_string_equal(text + 9, "9abcdef");
	vm_refusal_text(&why, text, sizeof(text));
	assert_string_equal(text, "/vms/x: is bad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blob_is_no_device_tree),
	    cmocka_unit_test(property_after_child),
	    cmocka_unit_test(things_given_twice),
	    cmocka_unit_test(other_compatible),
	    cmocka_unit_test(unknown_nodes),
	    cmocka_unit_test(unknown_properties),
	    cmocka_unit_test(missing_nodes),
	    cmocka_unit_test(missing_properties),
	    cmocka_unit_test(wrong_sizes),
	    cmocka_unit_test(bad_strings),
	    cmocka_unit_test(bad_words),
	    cmocka_unit_test(bad_names),
	    cmocka_unit_test(nothing_to_run),
	    cmocka_unit_test(too_many),
	    cmocka_unit_test(bad_memory),
	    cmocka_unit_test(not_on_this_machine),
	    cmocka_unit_test(all_of_them),
	    cmocka_unit_test(more_than_twenty),
	    cmocka_unit_test(time_is_no_counter),
	    cmocka_unit_test(harts_that_differ),
	    cmocka_unit_test(bad_references),
	    cmocka_unit_test(files_that_are_no_kernel),
	    cmocka_unit_test(bad_images),
	    cmocka_unit_test(bad_load_offset),
	    cmocka_unit_test(initrd_larger_than_memory),
	    cmocka_unit_test(initrd_of_any_size),
	    cmocka_unit_test(text_is_cut),
	    cmocka_unit_test(every_code_was_seen),
	};

	/* First: the last test of these here asks for codes that those see. */
	int failed = test_vm_pmu() + test_vm_life() + test_vm_aia() + test_vm_memory() +
	             test_vm_shared() + test_vm_bell() + test_vm_networks() + test_pmu_node() +
	             test_vm_devices() + test_vm_functions() + test_vm_harts() + test_vm_turns() +
	             test_vm_budget() + test_vm_schedule() + test_vm_operator() + test_vm_machine();

	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
