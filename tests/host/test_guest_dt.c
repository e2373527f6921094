/* SPDX-License-Identifier: Apache-2.0 */
/* The device tree of a guest: every node and property, read back with libfdt and by dtc. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/life/guest_dt.h"
#include "core/life/seed.h"

#define MIB(n) ((uint64_t)(n) << 20)

static const char *const extensions[] = {"i", "m", "a", "f", "d", "c", "sscofpmf", "sstc"};
static const struct guest_machine machine = {
    .timebase_frequency = 10000000,
    .isa = "rv64imafdc_sscofpmf_sstc",
    .isa_extensions = extensions,
    .n_ext = 8,
    .mmu_type = "riscv,sv57",
    .cboz_block = 64,
    .cbop_block = 32,
};

static _Alignas(8) uint8_t dt[65536];

static struct vm_config a_vm(uint32_t n_vcpus)
{
	struct vm_config vm = {
	    .name = "alpha",
	    .memory = MIB(256),
	    .ram_base = VM_RAM_BASE,
	    .n_vcpus = n_vcpus,
	    .initrd = {"cpio", 5000},
	    .initrd_offset = 0xffee000,
	    .bootargs = "console=ttyS0 quiet",
	    .console = true,
	};

	return vm;
}

static void build(const struct vm_config *vm)
{
	memset(dt, 0xa5, sizeof(dt));
	assert_int_equal(guest_dt_build(dt, sizeof(dt), vm, &machine), 0);
	assert_int_equal(fdt_check_full(dt, sizeof(dt)), 0);
	assert_true(fdt_totalsize(dt) < 8192);
}

static int at(const char *path)
{
	int offset = fdt_path_offset(dt, path);

	assert_true(offset >= 0);
	return offset;
}

/* The property has exactly these bytes. */
static void is_bytes(const char *path, const char *name, const void *data, int size)
{
	int got;
	const void *value = fdt_getprop(dt, at(path), name, &got);

	assert_non_null(value);
	assert_int_equal(got, size);
	assert_memory_equal(value, data, (size_t)size);
}

static void is_string(const char *path, const char *name, const char *string)
{
	is_bytes(path, name, string, (int)strlen(string) + 1);
}

static void is_cells(const char *path, const char *name, const uint32_t *cells, int n)
{
	fdt32_t raw[32];

	for (int i = 0; i < n; i++)
		raw[i] = cpu_to_fdt32(cells[i]);
	is_bytes(path, name, raw, n * 4);
}

static void is_u32(const char *path, const char *name, uint32_t value)
{
	is_cells(path, name, &value, 1);
}

static void is_flag(const char *path, const char *name)
{
	is_bytes(path, name, "", 0);
}

static void is_absent(const char *path, const char *name)
{
	assert_null(fdt_getprop(dt, at(path), name, NULL));
}

static int count(const char *path, bool nodes)
{
	int offset;
	int n = 0;

	if (nodes)
		fdt_for_each_subnode(offset, dt, at(path)) n++;
	else
		fdt_for_each_property_offset(offset, dt, at(path)) n++;
	return n;
}

/* There is nothing that the tests do not check. */
static void has(const char *path, int properties, int nodes)
{
	assert_int_equal(count(path, false), properties);
	assert_int_equal(count(path, true), nodes);
}

static void root_chosen_memory(void **state)
{
	const struct vm_config vm = a_vm(1);

	(void)state;
	build(&vm);
	has("/", 4, 4);
	is_u32("/", "#address-cells", 2);
	is_u32("/", "#size-cells", 2);
	is_string("/", "compatible", "tally,vm");
	is_string("/", "model", "Tally VM");

	has("/chosen", 4, 0);
	is_string("/chosen", "bootargs", "console=ttyS0 quiet");
	is_string("/chosen", "stdout-path", "/soc/serial@10000000");
	is_cells("/chosen", "linux,initrd-start", (const uint32_t[]){0, 0x8ffee000}, 2);
	is_cells("/chosen", "linux,initrd-end", (const uint32_t[]){0, 0x8ffef388}, 2);

	has("/memory@80000000", 2, 0);
	is_string("/memory@80000000", "device_type", "memory");
	is_cells("/memory@80000000", "reg", (const uint32_t[]){0, 0x80000000, 0, 0x10000000}, 4);
}

static void cpus(void **state)
{
	static const char list[] = "i\0m\0a\0f\0d\0c\0sscofpmf\0sstc";
	const uint32_t sizes[] = {1, 2, 8};
	char path[64];

	(void)state;
	for (size_t s = 0; s < 3; s++) {
		const struct vm_config vm = a_vm(sizes[s]);

		build(&vm);
		has("/cpus", 3, (int)sizes[s]);
		is_u32("/cpus", "#address-cells", 1);
		is_u32("/cpus", "#size-cells", 0);
		is_u32("/cpus", "timebase-frequency", 10000000);
		for (uint32_t i = 0; i < sizes[s]; i++) {
			snprintf(path, sizeof(path), "/cpus/cpu@%u", i);
			has(path, 9, 1);
			is_string(path, "device_type", "cpu");
			is_u32(path, "reg", i);
			is_string(path, "compatible", "riscv");
			is_string(path, "riscv,isa", "rv64imafdc_sscofpmf_sstc");
			is_string(path, "riscv,isa-base", "rv64i");
			is_bytes(path, "riscv,isa-extensions", list, sizeof(list));
			is_string(path, "mmu-type", "riscv,sv57");
			is_u32(path, "riscv,cboz-block-size", 64);
			is_u32(path, "riscv,cbop-block-size", 32);
			assert_null(fdt_getprop(dt, at(path), "riscv,cbom-block-size", NULL));
			snprintf(path, sizeof(path), "/cpus/cpu@%u/interrupt-controller", i);
			has(path, 5, 0);
			is_string(path, "compatible", "riscv,cpu-intc");
			is_flag(path, "interrupt-controller");
			is_u32(path, "#interrupt-cells", 1);
			is_u32(path, "#address-cells", 0);
			assert_int_not_equal(fdt_get_phandle(dt, at(path)), 0);
		}
	}
}

/* Context n is the external interrupt of S-mode on vcpu n. */
static void plic(void **state)
{
	const uint32_t sizes[] = {1, 8};
	const char *path = "/soc/plic@c000000";

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		const struct vm_config vm = a_vm(sizes[s]);
		uint32_t contexts[16];
		char intc[64];

		build(&vm);
		for (uint32_t i = 0; i < sizes[s]; i++) {
			snprintf(intc, sizeof(intc), "/cpus/cpu@%u/interrupt-controller", i);
			contexts[2 * i] = fdt_get_phandle(dt, at(intc));
			contexts[2 * i + 1] = 9;
		}
		has(path, 8, 0);
		is_bytes(path, "compatible", "sifive,plic-1.0.0\0riscv,plic0", 30);
		is_cells(path, "reg", (const uint32_t[]){0, 0x0c000000, 0, 0x400000}, 4);
		is_flag(path, "interrupt-controller");
		is_u32(path, "#interrupt-cells", 1);
		is_u32(path, "#address-cells", 0);
		is_u32(path, "riscv,ndev", 31);
		is_cells(path, "interrupts-extended", contexts, (int)(2 * sizes[s]));
	}
}

static void soc_and_uart(void **state)
{
	const struct vm_config vm = a_vm(1);
	const char *path = "/soc/serial@10000000";

	(void)state;
	build(&vm);
	has("/soc", 5, 2);
	is_u32("/soc", "interrupt-parent", fdt_get_phandle(dt, at("/soc/plic@c000000")));
	is_string("/soc", "compatible", "simple-bus");
	is_u32("/soc", "#address-cells", 2);
	is_u32("/soc", "#size-cells", 2);
	is_flag("/soc", "ranges");
	has(path, 4, 0);
	is_string(path, "compatible", "ns16550a");
	is_cells(path, "reg", (const uint32_t[]){0, 0x10000000, 0, 0x100}, 4);
	is_u32(path, "clock-frequency", 3686400);
	is_u32(path, "interrupts", 10);
}

static void clock_of_its_own(void **state)
{
	struct vm_config vm = a_vm(1);
	const char *path = "/soc/rtc@101000";

	(void)state;
	build(&vm);
	assert_int_equal(fdt_path_offset(dt, path), -FDT_ERR_NOTFOUND);
	vm.rtc = true;
	build(&vm);
	has(path, 2, 0);
	is_string(path, "compatible", "google,goldfish-rtc");
	is_cells(path, "reg", (const uint32_t[]){0, 0x101000, 0, 0x1000}, 4);
	vm.rtc_source = 11;
	build(&vm);
	has(path, 3, 0);
	is_u32(path, "interrupts", 11);
	vm.aia = true;
	build(&vm);
	is_cells(path, "interrupts", (const uint32_t[]){11, 4}, 2);
}

/* The sleep of a vcpu in a suspended system, which Linux takes for none else: its exit may take
 * longer than 2,000 s. */
static void told_how_to_suspend(void **state)
{
	struct vm_config vm = a_vm(2);
	const char *path = "/cpus/idle-states/sleep";

	(void)state;
	build(&vm);
	has("/cpus", 3, 2);
	vm.suspend = true;
	build(&vm);
	has("/cpus", 3, 3);
	has("/cpus/idle-states", 0, 1);
	has(path, 6, 0);
	is_string(path, "compatible", "riscv,idle-state");
	is_u32(path, "riscv,sbi-suspend-param", 0);
	is_u32(path, "entry-latency-us", 1);
	is_u32(path, "exit-latency-us", 0x7fffffff);
	is_u32(path, "min-residency-us", 0x7fffffff);
	assert_int_not_equal(fdt_get_phandle(dt, at(path)), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const char *cpu = i ? "/cpus/cpu@1" : "/cpus/cpu@0";

		has(cpu, 10, 1);
		is_u32(cpu, "cpu-idle-states", fdt_get_phandle(dt, at(path)));
	}
}

static void without_console_initrd_bootargs(void **state)
{
	struct vm_config vm = a_vm(1);

	(void)state;
	vm.console = false;
	build(&vm);
	has("/soc", 5, 1);
	at("/soc/plic@c000000");
	is_absent("/chosen", "stdout-path");
	has("/chosen", 3, 0);

	vm.initrd.data = NULL;
	vm.initrd.size = 0;
	build(&vm);
	has("/chosen", 1, 0);
	is_string("/chosen", "bootargs", "console=ttyS0 quiet");

	vm.bootargs = NULL;
	build(&vm);
	has("/chosen", 0, 0);
}

/* Zeros where each life's own is put, and nothing where the host has none. */
static void seed(void **state)
{
	static const uint8_t zeros[SEED_BYTES];
	struct vm_config vm = a_vm(1);
	struct guest_machine seeded = machine;

	(void)state;
	build(&vm);
	is_absent("/chosen", "rng-seed");
	assert_int_equal(guest_dt_seed_at(dt), 0);

	seeded.seed = true;
	memset(dt, 0xa5, sizeof(dt));
	assert_int_equal(guest_dt_build(dt, sizeof(dt), &vm, &seeded), 0);
	has("/chosen", 5, 0);
	is_bytes("/chosen", "rng-seed", zeros, SEED_BYTES);
	assert_int_equal(fdt_pack(dt), 0);
	dt[guest_dt_seed_at(dt)] = 1;
	dt[guest_dt_seed_at(dt) + SEED_BYTES - 1] = 2;
	const uint8_t *got = fdt_getprop(dt, at("/chosen"), "rng-seed", NULL);
	assert_int_equal(got[0], 1);
	assert_int_equal(got[SEED_BYTES - 1], 2);
}

/* Contexts in pairs, of which the first is for M-mode, and a node for each slot without a device of
 * the host. */
static void machine_virt(void **state)
{
	struct vm_config vm = a_vm(2);
	uint32_t contexts[8];
	char path[64];

	(void)state;
	vm.virt = true;
	vm.n_devices = 1;
	vm.devices[0].n_regions = 1;
	vm.devices[0].regions[0].base = 0x10003000;
	vm.devices[0].regions[0].size = 0x1000;
	/* A port is in a slot, and on no bus. */
	vm.n_ports = 1;
	vm.ports[0].source = 1;
	build(&vm);
	has("/soc", 5, 2 + 7);
	for (uint32_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/cpus/cpu@%u/interrupt-controller", i / 2);
		contexts[2 * i] = fdt_get_phandle(dt, at(path));
		contexts[2 * i + 1] = i & 1 ? 9 : 0xffffffff;
	}
	has("/soc/plic@c000000", 8, 0);
	is_cells("/soc/plic@c000000", "interrupts-extended", contexts, 8);
	for (uint32_t i = 0; i < 8; i++) {
		const uint32_t base = 0x10001000 + i * 0x1000;

		snprintf(path, sizeof(path), "/soc/virtio_mmio@%x", base);
		if (i == 2) {
			assert_int_equal(fdt_path_offset(dt, path), -FDT_ERR_NOTFOUND);
			continue;
		}
		has(path, 3, 0);
		is_string(path, "compatible", "virtio,mmio");
		is_cells(path, "reg", (const uint32_t[]){0, base, 0, 0x1000}, 4);
		is_u32(path, "interrupts", i + 1);
	}
}

/* More than 4 GiB, and a base whose hexadecimal has zeros in it. */
static void large_memory(void **state)
{
	struct vm_config vm = a_vm(1);

	(void)state;
	vm.memory = MIB(0x300000);
	vm.ram_base = 0x10020000000;
	build(&vm);
	is_cells("/memory@10020000000", "reg", (const uint32_t[]){0x100, 0x20000000, 0x300, 0}, 4);
	is_cells("/chosen", "linux,initrd-start", (const uint32_t[]){0x100, 0x2ffee000}, 2);
	vm.ram_base = 0;
	build(&vm);
	at("/memory@0");
}

/* A node for each piece, and the initrd in the first. */
static void memory_in_pieces(void **state)
{
	struct vm_config vm = a_vm(1);

	(void)state;
	vm.ram_base = vm.host_base = 0x90000000;
	vm.n_pieces = 3;
	vm.pieces[0].base = 0x90000000;
	vm.pieces[0].size = MIB(256);
	vm.pieces[1].base = 0xa0200000;
	vm.pieces[1].size = MIB(2);
	vm.pieces[2].base = 0x1c0000000;
	vm.pieces[2].size = MIB(8192);
	vm.memory = MIB(256 + 2 + 8192);
	build(&vm);
	is_cells("/memory@90000000", "reg", (const uint32_t[]){0, 0x90000000, 0, 0x10000000}, 4);
	is_cells("/memory@a0200000", "reg", (const uint32_t[]){0, 0xa0200000, 0, 0x200000}, 4);
	is_cells("/memory@1c0000000", "reg", (const uint32_t[]){1, 0xc0000000, 2, 0}, 4);
	has("/memory@1c0000000", 2, 0);
	is_cells("/chosen", "linux,initrd-start", (const uint32_t[]){0, 0x9ffee000}, 2);
	has("/", 4, 6);
}

/* Nodes of their own, which no kernel takes for its memory. */
static void shared_memory(void **state)
{
	static const struct vm_shared shared[3] = {
	    {"unused", 4096, 0x90000000}, {"ring", 0x3000, 0x91000000}, {"log", MIB(8192), 0}};
	const char *ring = "/shared@40000000", *log = "/shared@1ffffe00000";
	struct guest_machine with = machine;
	struct vm_config vm = a_vm(1);

	(void)state;
	vm.n_shared = 2;
	vm.shared[0].at = 0x40000000;
	vm.shared[0].number = 1;
	vm.shared[1].at = 0x1ffffe00000;
	vm.shared[1].number = 2;
	vm.shared[1].writes = true;
	with.shared = shared;
	memset(dt, 0xa5, sizeof(dt));
	assert_int_equal(guest_dt_build(dt, sizeof(dt), &vm, &with), 0);
	assert_int_equal(fdt_check_full(dt, sizeof(dt)), 0);
	has("/", 4, 6);
	has(ring, 4, 0);
	is_string(ring, "compatible", "tally,shared-memory");
	is_cells(ring, "reg", (const uint32_t[]){0, 0x40000000, 0, 0x3000}, 4);
	is_string(ring, "label", "ring");
	is_string(ring, "tally,access", "read");
	has(log, 4, 0);
	is_cells(log, "reg", (const uint32_t[]){0x1ff, 0xffe00000, 2, 0}, 4);
	is_string(log, "label", "log");
	is_string(log, "tally,access", "read-write");
}

/* A bus with a function for each bell, and windows for its BARs. */
static void bells(void **state)
{
	static const struct vm_shared shared[2] = {{"ring", 0x10000, 0}, {"log", MIB(8192), 0}};
	const char *bus = "/soc/pci@30000000";
	struct guest_machine with = machine;
	struct vm_config vm = a_vm(1);

	(void)state;
	vm.n_shared = 2;
	vm.shared[0].at = 0x40000000;
	vm.shared[0].bell = 7;
	vm.shared[1].at = 0x200000000;
	vm.shared[1].number = 1;
	with.shared = shared;
	memset(dt, 0xa5, sizeof(dt));
	assert_int_equal(guest_dt_build(dt, sizeof(dt), &vm, &with), 0);
	is_cells("/chosen", "linux,pci-probe-only", (const uint32_t[]){1}, 1);
	is_cells(bus, "ranges",
	         (const uint32_t[]){0x02000000, 0, 0x30100000, 0, 0x30100000, 0, 0x8000, 0x02000000,
	                            0, 0x40000000, 0, 0x40000000, 0, 0x10000},
	         14);
	is_cells(bus, "interrupt-map", (const uint32_t[]){31 << 11, 0, 0, 1, 1, 7}, 6);
	vm.shared[1].bell = 8;
	vm.aia = true;
	assert_int_equal(guest_dt_build(dt, sizeof(dt), &vm, &with), 0);
	is_cells(bus, "ranges",
	         (const uint32_t[]){0x02000000, 0, 0x30100000, 0, 0x30100000, 0, 0x8000,
	                            0x02000000, 0, 0x40000000, 0, 0x40000000, 0, 0x10000,
	                            0x03000000, 2, 0,          2, 0,          2, 0},
	         21);
	is_cells(bus, "interrupt-map",
	         (const uint32_t[]){31 << 11, 0, 0, 1, 1, 7, 4, 30 << 11, 0, 0, 1, 1, 8, 4}, 14);
}

/* It never writes beyond the buffer, whatever its size, and works from some size on. */
static void buffer_of_any_size(void **state)
{
	const struct vm_config vm = a_vm(8);
	size_t needed = 0;

	(void)state;
	for (size_t size = 0; size < 8192; size += 20) {
		int error;

		memset(dt, 0xa5, sizeof(dt));
		error = guest_dt_build(dt, size, &vm, &machine);
		for (size_t i = size; i < sizeof(dt); i++)
			assert_true(dt[i] == 0xa5);
		if (error)
			assert_int_equal(error, -FDT_ERR_NOSPACE);
		if (error)
			assert_int_equal(needed, 0);
		else if (!needed)
			needed = size;
	}
	assert_in_range(needed, 1000, 8180);
}

/* The largest VM there can be, with an ISA string that names everything. */
static void largest_tree_fits(void **state)
{
	static char bootargs[VM_BOOTARGS_MAX + 1];
	static char isa[1024];
	static const struct vm_shared shared = {"a-name-of-15-ch", 4096, 0};
	const char *names[64];
	struct guest_machine all = machine;
	struct vm_config vm = a_vm(VM_MAX_VCPUS);

	(void)state;
	memset(bootargs, 'x', VM_BOOTARGS_MAX);
	memset(isa, 'y', sizeof(isa) - 1);
	for (size_t i = 0; i < 64; i++)
		names[i] = "zalongextensio";
	vm.bootargs = bootargs;
	all.isa = isa;
	all.isa_extensions = names;
	all.n_ext = 64;
	all.seed = true;
	all.cbom_block = 64;
	all.shared = &shared;
	vm.virt = true;
	for (vm.n_shared = 0; vm.n_shared < VM_MAX_SHARED; vm.n_shared++)
		vm.shared[vm.n_shared].at = MIB(2 * vm.n_shared);
	assert_int_equal(guest_dt_build(dt, VM_DTB_SIZE, &vm, &all), 0);
	assert_true(fdt_totalsize(dt) < VM_DTB_SIZE / 2);
	assert_string_equal(fdt_getprop(dt, at("/chosen"), "bootargs", NULL), bootargs);
}

static void same_input_same_bytes(void **state)
{
	static uint8_t first[65536];
	const struct vm_config vm = a_vm(8);

	(void)state;
	build(&vm);
	memcpy(first, dt, fdt_totalsize(dt));
	memset(dt, 0, sizeof(dt));
	assert_int_equal(guest_dt_build(dt, sizeof(dt), &vm, &machine), 0);
	assert_memory_equal(dt, first, fdt_totalsize(dt));
}

/* dtc knows the rules for units, cells, interrupts and PLICs, and warns if they are broken. */
static void dtc_has_no_objection(void **state)
{
	const uint32_t sizes[] = {1, 8};

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		struct vm_config vm = a_vm(sizes[s]);
		char file[] = "/tmp/guest-dt-XXXXXX";
		char command[128];
		char said[512];
		size_t length;
		int fd = mkstemp(file);
		FILE *dtc;

		vm.console = s == 1;
		vm.virt = s == 1;
		vm.suspend = s == 1;
		build(&vm);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, dt, fdt_totalsize(dt)), fdt_totalsize(dt));
		close(fd);
		snprintf(command, sizeof(command), "dtc -I dtb -O dts -o /dev/null %s 2>&1", file);
		dtc = popen(command, "r");
		assert_non_null(dtc);
		length = fread(said, 1, sizeof(said) - 1, dtc);
		said[length] = '\0';
		assert_string_equal(said, "");
		assert_int_equal(pclose(dtc), 0);
		unlink(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(root_chosen_memory),
	    cmocka_unit_test(cpus),
	    cmocka_unit_test(plic),
	    cmocka_unit_test(clock_of_its_own),
	    cmocka_unit_test(told_how_to_suspend),
	    cmocka_unit_test(soc_and_uart),
	    cmocka_unit_test(without_console_initrd_bootargs),
	    cmocka_unit_test(seed),
	    cmocka_unit_test(machine_virt),
	    cmocka_unit_test(large_memory),
	    cmocka_unit_test(memory_in_pieces),
	    cmocka_unit_test(shared_memory),
	    cmocka_unit_test(bells),
	    cmocka_unit_test(buffer_of_any_size),
	    cmocka_unit_test(largest_tree_fits),
	    cmocka_unit_test(same_input_same_bytes),
	    cmocka_unit_test(dtc_has_no_objection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
