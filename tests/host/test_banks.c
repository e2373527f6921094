/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAM in several banks, on machines and with VMs by chance: VMs, shared memory, Tally, the VM tree
 * and what the host's tree keeps are all in RAM, and nobody's memory is another's; a VM is refused
 * only where there is no room. And what boot does with RAM that HS does not reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "arch/riscv/hart/touch.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/host/host_memory.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/tree/parse.h"
#include "core/tree/vm_memory.h"
#include "tests/host/vm_tree.h"

#define MACHINES 12000

/* The machine's addresses from `base` on, in units. */
#define UNIT  UINT64_C(0x80000)
#define UNITS 2048U
#define STEP  ((uint32_t)(VM_MEMORY_STEP / UNIT))

struct platform platform;

static uint64_t base;
static bool in_ram[UNITS], in_kept[UNITS];
static char owner[UNITS];

static uint64_t state;

static uint32_t luck(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % below;
}

/* --- a machine ------------------------------------------------------------------------- */

static _Alignas(8) uint8_t host[16384], vms[16384];

static void ok(int error)
{
	assert_int_equal(error, 0);
}

static void mark(bool map[], uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < from + n; i++)
		map[i] = true;
}

static void put_ranges(void *t, const char *name, uint32_t n, bool map[], uint32_t most, bool ram)
{
	fdt64_t reg[16];

	ok(fdt_begin_node(t, name));
	if (ram)
		ok(fdt_property_string(t, "device_type", "memory"));
	else
		ok(fdt_property(t, "no-map", "", 0));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = 1 + luck(most), from = luck(UNITS - size);

		/* Most begin at a step. */
		if (luck(3))
			from = from / STEP * STEP;
		mark(map, from, size);
		reg[2 * i] = cpu_to_fdt64(base + from * UNIT);
		reg[2 * i + 1] = cpu_to_fdt64(size * UNIT);
	}
	ok(fdt_property(t, "reg", reg, (int)(16 * n)));
	ok(fdt_end_node(t));
}

static void make_host(void)
{
	static const uint64_t bases[] = {0, 0x80000000, 0x100000000, 0xffe0000000};
	void *t = host;
	char name[32];

	memset(in_ram, 0, sizeof(in_ram));
	memset(in_kept, 0, sizeof(in_kept));
	base = bases[luck(4)];
	ok(fdt_create(t, sizeof(host)));
	ok(fdt_finish_reservemap(t));
	ok(fdt_begin_node(t, ""));
	ok(fdt_property_u32(t, "#address-cells", 2));
	ok(fdt_property_u32(t, "#size-cells", 2));
	for (uint32_t i = 0, n = 1 + luck(5); i < n; i++) {
		snprintf(name, sizeof(name), "memory@%x", i);
		put_ranges(t, name, 1 + luck(6), in_ram, luck(2) ? 400 : 40, true);
	}
	ok(fdt_begin_node(t, "reserved-memory"));
	ok(fdt_property_u32(t, "#address-cells", 2));
	ok(fdt_property_u32(t, "#size-cells", 2));
	ok(fdt_property(t, "ranges", "", 0));
	for (uint32_t i = 0, n = luck(6); i < n; i++) {
		snprintf(name, sizeof(name), "kept@%x", i);
		put_ranges(t, name, 1, in_kept, 8, false);
	}
	ok(fdt_end_node(t));
	ok(fdt_end_node(t));
	ok(fdt_finish(t));
}

static bool is_ram(uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at += UNIT) {
		if (at < base || at >= base + UNITS * UNIT || !in_ram[(at - base) / UNIT])
			return false;
	}
	return true;
}

static void take(uint64_t from, uint64_t to, char whose)
{
	for (uint64_t at = from / UNIT * UNIT; at < to; at += UNIT) {
		uint32_t i = (uint32_t)((at - base) / UNIT);

		assert_true(i < UNITS && in_ram[i] && !owner[i]);
		owner[i] = whose;
	}
}

/* Tally is loaded to some step of RAM, and the VM tree to anywhere. Returns false if the machine is
 * refused. */
static bool make_limits(struct vm_limits *limits, uint64_t tree_size)
{
	uint64_t at = base + luck(UNITS / STEP) * VM_MEMORY_STEP;
	struct vm_range image = {at, at + MIB(1)}, blob;
	struct host_reserved found;

	*limits = (struct vm_limits){.harts = {.n = 1}, .host_tree = host};
	memset(owner, 0, sizeof(owner));
	if (!host_memory_find(host, image, &limits->ram))
		return false;
	if (!host_memory_keep(host, image, &limits->ram, &found))
		return false;
	blob.from = base + luck(UNITS) * UNIT + 8 * luck(UNIT / 8);
	blob.to = blob.from + tree_size;
	vm_guest_ranges(&limits->ram, &blob, &limits->guests);
	if (host_memory_misplaced(host, &limits->ram, &limits->guests, &blob) || !limits->guests.n)
		return false;
	assert_true(image.from >= limits->guests.kept.from && image.to <= limits->guests.kept.to);
	assert_true(limits->guests.kept.to - limits->guests.kept.from == VM_RESERVED_MEMORY);
	assert_true(limits->guests.tree.from <= blob.from && limits->guests.tree.to >= blob.to);
	take(limits->guests.kept.from, limits->guests.kept.to, 't');
	/* It may be in memory that the host's tree does not name. */
	for (uint64_t i = blob.from / UNIT * UNIT; i < blob.to; i += UNIT) {
		uint64_t unit = (i - base) / UNIT;

		assert_false(unit < UNITS && in_kept[unit]);
		if (unit < UNITS && in_ram[unit])
			take(i, i + 1, 'v');
	}
	return true;
}

static bool is_in_bank(const struct vm_limits *limits, uint64_t from, uint64_t to)
{
	const struct vm_range *bank = vm_bank_of(&limits->ram, from);

	return bank && to <= bank->to;
}

/* A step that VMs may have; none has address 0. */
static bool is_free(const struct vm_limits *limits, uint64_t at)
{
	if (!at || !is_in_bank(limits, at, at + VM_MEMORY_STEP))
		return false;
	for (uint64_t i = at; i < at + VM_MEMORY_STEP; i += UNIT) {
		if (in_kept[(i - base) / UNIT] || owner[(i - base) / UNIT])
			return false;
	}
	return true;
}

/* The bytes of the largest range of free steps, and of all. */
static uint64_t largest_free(const struct vm_limits *limits, uint64_t *sum)
{
	uint64_t run = 0, largest = 0;

	*sum = 0;
	for (uint32_t i = 0; i < UNITS; i += STEP) {
		run = is_free(limits, base + i * UNIT) ? run + VM_MEMORY_STEP : 0;
		*sum += run ? VM_MEMORY_STEP : 0;
		largest = run > largest ? run : largest;
	}
	return largest;
}

/* --- its VMs --------------------------------------------------------------------------- */

static void begin_vms(void *t)
{
	ok(fdt_create(t, sizeof(vms)));
	ok(fdt_finish_reservemap(t));
	ok(fdt_begin_node(t, ""));
	ok(fdt_property_string(t, "compatible", "tally,vm-tree-1"));
	ok(fdt_begin_node(t, "images"));
	ok(fdt_begin_node(t, "raw"));
	ok(fdt_property_u32(t, "phandle", 1));
	ok(fdt_property(t, "data", "kernel", 6));
	ok(fdt_end_node(t));
	ok(fdt_end_node(t));
}

static void put_vm(void *t, const char *name, const char *property, const fdt64_t *cells, int n)
{
	ok(fdt_begin_node(t, name));
	ok(fdt_property(t, property, cells, 8 * n));
	ok(fdt_property_u32(t, "kernel", 1));
	ok(fdt_begin_node(t, "vcpu0"));
	ok(fdt_property_u32(t, "harts", 0));
	ok(fdt_end_node(t));
	ok(fdt_end_node(t));
}

static void end_vms(void *t)
{
	ok(fdt_end_node(t));
	ok(fdt_finish(t));
}

static struct vm_tree tree;

static bool parse(const struct vm_limits *limits, struct vm_refusal *why)
{
	bool good = vm_config_parse(vms, sizeof(vms), limits, &tree, why);

	check_promises(good, limits, &tree, why, vms, sizeof(vms));
	return good;
}

/* Each has what nobody else has, and what is left is free. */
static void check_all(const struct vm_limits *limits)
{
	uint64_t sum, left = 0;

	for (uint32_t i = 0; i < tree.n_vms; i++) {
		for (uint32_t k = 0; vm_piece(&tree.vms[i], k).size; k++) {
			struct vm_piece piece = vm_piece(&tree.vms[i], k);

			assert_true(is_in_bank(limits, piece.host, piece.host + piece.size));
			take(piece.host, piece.host + piece.size, (char)('a' + i));
		}
	}
	for (uint32_t i = 0; i < tree.n_shared; i++) {
		uint64_t at = tree.shared[i].host_base;

		assert_true(is_in_bank(limits, at, at + vm_shared_room(&tree.shared[i])));
		take(at, at + vm_shared_room(&tree.shared[i]), 's');
	}
	for (uint32_t i = 0; i < UNITS; i++)
		assert_false(in_kept[i] && owner[i] && owner[i] != 't');
	largest_free(limits, &sum);
	for (uint32_t i = 0; i < limits->ram.n; i++) {
		assert_true(is_ram(limits->ram.banks[i].from, limits->ram.banks[i].to));
		left += vm_bank_use(&tree, limits, &limits->ram.banks[i]).free;
	}
	assert_int_equal(left, sum);
}

/* One VM that did not choose is refused only if no bank has so much in one piece. */
static uint32_t try_one(const struct vm_limits *limits)
{
	uint64_t sum, largest = largest_free(limits, &sum);
	uint64_t size = VM_MEMORY_STEP * (1 + luck(luck(2) ? 300 : 20));
	fdt64_t cells[] = {cpu_to_fdt64(size)};
	struct vm_refusal why;
	bool good;

	begin_vms(vms);
	ok(fdt_begin_node(vms, "vms"));
	put_vm(vms, "one", "memory", cells, 1);
	ok(fdt_end_node(vms));
	end_vms(vms);
	good = parse(limits, &why);
	assert_int_equal(good, size <= largest);
	if (!good)
		assert_true(why.code == VM_REFUSED_MEMORY_SUM ||
		            why.code == VM_REFUSED_MEMORY_ROOM);
	return good;
}

/* Several VMs, of which some choose steps, free ones or any; two share memory. */
static uint32_t try_many(const struct vm_limits *limits)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	uint32_t n = 2 + luck(4);
	struct vm_refusal why;
	fdt64_t cells[4];
	bool good;

	begin_vms(vms);
	ok(fdt_begin_node(vms, "vms"));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at[2];

		for (uint32_t k = 0; k < 2; k++) {
			uint32_t tries = 50;

			do
				at[k] = base + luck(UNITS / STEP) * VM_MEMORY_STEP;
			while (luck(20) && !is_free(limits, at[k]) && --tries);
			cells[2 * k] = cpu_to_fdt64(at[k]);
			cells[2 * k + 1] = cpu_to_fdt64(VM_MEMORY_STEP);
		}
		if (luck(2))
			put_vm(vms, names[i], "memory-at", cells, at[0] == at[1] ? 2 : 4);
		else
			put_vm(vms, names[i], "memory", &cells[1], 1);
	}
	ok(fdt_end_node(vms));
	ok(fdt_begin_node(vms, "shared"));
	ok(fdt_begin_node(vms, "ring"));
	ok(fdt_property_u64(vms, "size", UNIT * (1 + luck(20))));
	for (uint32_t i = 0; i < 2; i++) {
		ok(fdt_begin_node(vms, names[i]));
		ok(fdt_property_u64(vms, "at", 0x18000000000));
		ok(fdt_property_string(vms, "access", "read-write"));
		ok(fdt_end_node(vms));
	}
	ok(fdt_end_node(vms));
	ok(fdt_end_node(vms));
	end_vms(vms);
	good = parse(limits, &why);
	if (good)
		check_all(limits);
	return good;
}

static void machines_by_chance(void **unused)
{
	uint32_t made = 0, several = 0, one = 0, many = 0, elsewhere = 0, before = 0;

	(void)unused;
	state = 88172645463325252U;
	for (uint32_t i = 0; i < MACHINES; i++) {
		uint64_t tree_size = 1 + luck(luck(2) ? 100000000 : 1000000);
		struct vm_limits limits;

		make_host();
		if (!make_limits(&limits, tree_size))
			continue;
		made++;
		several += limits.ram.n > 1;
		elsewhere += vm_bank_of(&limits.ram, limits.guests.tree.from) !=
		             vm_bank_of(&limits.ram, limits.ram.tally);
		before += limits.guests.ranges[0].to == limits.guests.kept.from;
		one += try_one(&limits);
		many += try_many(&limits);
	}
	print_message("%u machines, %u with several banks; %u with the VM tree in another, %u "
	              "with VMs before Tally; one VM fits in %u, many in %u\n",
	              made, several, elsewhere, before, one, many);
	/* Each kind of machine is there. */
	assert_true(made > 1000 && several > 1000 && elsewhere > 100 && before > 80);
	assert_true(one > 500 && one < made && many > 500 && many < made);
}

/* --- what HS does not reach ------------------------------------------------------------- */

static struct vm_range unreached;
static char said[512];
static jmp_buf lacked;

bool touch(uint64_t address)
{
	assert_int_equal(address % 8, 0);
	assert_non_null(vm_bank_of(&platform.ram, address));
	return address < unreached.from || address >= unreached.to;
}

static void say(const char *format, va_list args)
{
	size_t n = strlen(said);

	n += (size_t)snprintf(said + n, sizeof(said) - n, n ? "\n" : "");
	vsnprintf(said + n, sizeof(said) - n, format, args);
}

void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

_Noreturn void platform_lacks(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	longjmp(lacked, 1);
}

static void put_kept(void *t, const char *name, uint64_t at, uint64_t size)
{
	fdt64_t reg[] = {cpu_to_fdt64(at), cpu_to_fdt64(size)};

	ok(fdt_begin_node(t, name));
	ok(fdt_property(t, "reg", reg, sizeof(reg)));
	ok(fdt_end_node(t));
}

static void begin_kept(void *t)
{
	ok(fdt_create(t, sizeof(host)));
	ok(fdt_finish_reservemap(t));
	ok(fdt_begin_node(t, ""));
	ok(fdt_begin_node(t, "reserved-memory"));
	ok(fdt_property_u32(t, "#address-cells", 2));
	ok(fdt_property_u32(t, "#size-cells", 2));
}

static void end_kept(void *t)
{
	ok(fdt_end_node(t));
	ok(fdt_end_node(t));
	ok(fdt_finish(t));
}

/* Three banks, Tally high in the second; of the first two something is kept at the start. */
static const char *try_without(uint64_t from, uint64_t to)
{
	void *t = host;

	begin_kept(t);
	put_kept(t, "one", 0x40000000, MIB(3));
	put_kept(t, "two", 0x80000000, MIB(1));
	put_kept(t, "end", 0x47f00000, MIB(1));
	end_kept(t);
	platform.ram = (struct vm_ram){.n = 3,
	                               .banks = {{0x40000000, 0x48000000},
	                                         {0x80000000, 0x90000000},
	                                         {0x100000000, 0x100200000}},
	                               .tally = 0x84000000};
	unreached = (struct vm_range){from, to};
	said[0] = 0;
	if (!setjmp(lacked))
		ram_try(host);
	return said;
}

static void assert_bank(uint32_t i, uint64_t from, uint64_t to)
{
	assert_true(i < platform.ram.n);
	assert_int_equal(platform.ram.banks[i].from, from);
	assert_int_equal(platform.ram.banks[i].to, to);
}

static void banks_that_are_not_reached(void **unused)
{
	(void)unused;
	/* All is; and what is kept is nobody's concern. */
	assert_string_equal(try_without(0, 0), "");
	assert_int_equal(platform.ram.n, 3);
	assert_string_equal(try_without(0x40000000, 0x40400000), "");
	assert_string_equal(try_without(0x47e00000, 0x48000000), "");
	assert_string_equal(try_without(0x80000000, 0x80200000), "");
	assert_int_equal(platform.ram.n, 3);
	/* The first and the last word behind that. */
	assert_string_equal(try_without(0x40400000, 0x40400008),
	                    "RAM 0x40000000 to 0x47ffffff is not used: HS cannot read and write it "
	                    "at 0x40400000");
	assert_int_equal(platform.ram.n, 2);
	assert_bank(0, 0x80000000, 0x90000000);
	assert_string_equal(try_without(0x47dffff8, 0x47e00000),
	                    "RAM 0x40000000 to 0x47ffffff is not used: HS cannot read and write it "
	                    "at 0x47dffff8");
	/* A bank that is not there. */
	assert_string_equal(try_without(0x100000000, UINT64_MAX),
	                    "RAM 0x100000000 to 0x1001fffff is not used: HS cannot read and write "
	                    "it at 0x100000000");
	assert_int_equal(platform.ram.n, 2);
	assert_bank(0, 0x40000000, 0x48000000);
	/* Before Tally, and behind it. */
	assert_string_equal(try_without(0x83fff000, 0x84000000),
	                    "RAM 0x80000000 to 0x83ffffff is not used: HS cannot read and write it "
	                    "at 0x83fffff8");
	assert_int_equal(platform.ram.n, 3);
	assert_bank(1, 0x84000000, 0x90000000);
	assert_string_equal(try_without(0x88000000, 0x90000000),
	                    "host tree: HS cannot read and write RAM at 0x8fe00000");
}

/* The last step of all addresses, of which the end is kept, or nothing, or that is not whole. */
static void the_end_of_all_addresses(void **unused)
{
	const uint64_t last = ALIGN_DOWN(UINT64_MAX, VM_MEMORY_STEP);

	(void)unused;
	unreached = (struct vm_range){0, 0};
	begin_kept(host);
	put_kept(host, "end", last, VM_MEMORY_STEP - 1);
	end_kept(host);
	for (uint32_t i = 0; i < 2; i++) {
		platform.ram = (struct vm_ram){
		    .n = 2,
		    .banks = {{0x80000000, 0x90000000}, {last - VM_MEMORY_STEP + i, UINT64_MAX}},
		    .tally = 0x80000000};
		said[0] = 0;
		ram_try(host);
		assert_string_equal(said, "");
		platform.ram.banks[1].from = last + 1;
		ram_try(host);
		assert_string_equal(said, "");
	}
}

static void what_is_said_of_the_rest(void **unused)
{
	(void)unused;
	platform.ram = (struct vm_ram){.n = 0};
	said[0] = 0;
	ram_report_unused();
	assert_string_equal(said, "");
	platform.ram = (struct vm_ram){.before = MIB(66), .beyond = MIB(64)};
	ram_report_unused();
	assert_string_equal(
	    said, "66 MiB of RAM before Tally are not used: the host's tree does not say where in "
	          "them the firmware is\n"
	          "64 MiB of RAM are not used: Tally uses 16 banks at most");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(machines_by_chance),
	    cmocka_unit_test(banks_that_are_not_reached),
	    cmocka_unit_test(the_end_of_all_addresses),
	    cmocka_unit_test(what_is_said_of_the_rest),
	};

	return cmocka_run_group_tests_name("banks of RAM", tests, NULL, NULL);
}
