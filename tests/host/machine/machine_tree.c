/* SPDX-License-Identifier: Apache-2.0 */
/* The device trees that a machine boots with, at random: its own, and which VMs it has. */
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/riscv/csr.h"
#include "core/vm/platform.h"
#include "tests/host/machine/machine.h"

#define HOST_BYTES   16384
#define VMS_BYTES    65536
#define KERNEL_BYTES 20000
#define INTC(i)      ((uint32_t)(100 + (i)))
#define MUST(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			abort();                                                                   \
	} while (0)

extern char _image_end[];

static struct chance *luck(void)
{
	return &machine.chance;
}

static void property_u64s(void *t, const char *name, const uint64_t *values, uint32_t n)
{
	fdt64_t cells[4];

	for (uint32_t i = 0; i < n; i++)
		cells[i] = cpu_to_fdt64(values[i]);
	MUST(fdt_property(t, name, cells, (int)(n * sizeof(cells[0]))));
}

static void maybe(void *t, uint32_t p, const char *name, const char *value)
{
	if (percent(luck(), p))
		MUST(fdt_property_string(t, name, value));
}

/* --- VMs ----------------------------------------------------------------------------- */

static void write_vcpu(void *t, uint32_t id, bool alone, uint32_t hart)
{
	fdt32_t harts[MACHINE_HARTS];
	uint32_t n = 0, first = below(luck(), machine.kind.harts);
	char name[16];

	if (alone)
		harts[n++] = cpu_to_fdt32((uint32_t)machine.hart[hart].id);
	for (uint32_t i = 0; i < machine.kind.harts && !alone; i++) {
		uint32_t k = (first + i) % machine.kind.harts;

		if (!n || percent(luck(), 60))
			harts[n++] = cpu_to_fdt32((uint32_t)machine.hart[k].id);
	}
	snprintf(name, sizeof(name), "vcpu%u", id);
	MUST(fdt_begin_node(t, name));
	MUST(fdt_property(t, "harts", harts, (int)(n * sizeof(harts[0]))));
	MUST(fdt_end_node(t));
}

static void write_vm(void *t, uint32_t i)
{
	/* Where guests read the hart's flags each vcpu has a hart of its own. */
	bool alone = machine.kind.hart_flags;
	uint32_t n_vcpus = alone ? 1 : 1 + below(luck(), 3);
	char name[16];

	snprintf(name, sizeof(name), "vm%u", i);
	MUST(fdt_begin_node(t, name));
	property_u64s(t, "memory", (const uint64_t[]){2 << 20}, 1);
	MUST(fdt_property_u32(t, "kernel", 1));
	if (percent(luck(), 50))
		MUST(fdt_property_u32(t, "initrd", 2));
	if (percent(luck(), 90)) {
		const char *after = percent(luck(), 70) ? "always" : "on-failure";

		MUST(fdt_property_string(t, "restart", after));
		MUST(fdt_property_u32(t, "restart-limit", percent(luck(), 80) ? 1000 : 3));
	}
	maybe(t, 30, "bad-access", "stop");
	maybe(t, 10, "console", "off");
	maybe(t, 10, "pmu", "off");
	maybe(t, 20, "pmu-reads", "trap");
	if (percent(luck(), 30)) {
		MUST(fdt_property_string(t, "pmu-snapshot", "on"));
		maybe(t, 50, "pmu-overflow", "on");
	} else {
		maybe(t, 20, "pmu-overflow", "off");
	}
	if (percent(luck(), 40))
		MUST(fdt_property_u32(t, "pmu-overflow-limit", 1 + below(luck(), 3)));
	if (machine.kind.n_vms == 1)
		maybe(t, 30, "pmu-freeze", "vcpu");
	for (uint32_t k = 0; k < n_vcpus; k++)
		write_vcpu(t, k, alone, i % machine.kind.harts);
	MUST(fdt_end_node(t));
}

static void *vm_tree(void)
{
	static uint8_t image[KERNEL_BYTES];
	void *t = _image_end + (48UL << 20);

	for (uint32_t i = 0; i < KERNEL_BYTES; i++)
		image[i] = (uint8_t)(i * 7 + 1);
	MUST(fdt_create(t, VMS_BYTES));
	MUST(fdt_finish_reservemap(t));
	MUST(fdt_begin_node(t, ""));
	MUST(fdt_property_string(t, "compatible", VM_TREE_COMPATIBLE));
	MUST(fdt_begin_node(t, "images"));
	for (uint32_t i = 1; i <= 2; i++) {
		MUST(fdt_begin_node(t, i == 1 ? "kernel" : "initrd"));
		MUST(fdt_property(t, "data", image, i == 1 ? KERNEL_BYTES : 5000));
		MUST(fdt_property_u32(t, "phandle", i));
		MUST(fdt_end_node(t));
	}
	MUST(fdt_end_node(t));
	MUST(fdt_begin_node(t, "vms"));
	for (uint32_t i = 0; i < machine.kind.n_vms; i++)
		write_vm(t, i);
	MUST(fdt_end_node(t));
	MUST(fdt_end_node(t));
	MUST(fdt_finish(t));
	return t;
}

/* --- the machine --------------------------------------------------------------------- */

static void write_isa(void *t)
{
	char list[64];
	int n = 0;
	const char *names[] = {"h", "zicntr", "zicbom", "sscofpmf", "ssaia", "sstc", "v", "ssccfg"};
	bool has[] = {true,
	              true,
	              true,
	              true,
	              true,
	              machine.kind.sstc,
	              machine.kind.vectors,
	              !machine.kind.hart_flags};

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (has[i])
			n += snprintf(list + n, sizeof(list) - (size_t)n, "%s", names[i]) + 1;
	}
	MUST(fdt_property(t, "riscv,isa-extensions", list, n));
}

static void write_cpus(void *t)
{
	MUST(fdt_begin_node(t, "cpus"));
	MUST(fdt_property_u32(t, "#address-cells", 1));
	MUST(fdt_property_u32(t, "#size-cells", 0));
	MUST(fdt_property_u32(t, "timebase-frequency", MACHINE_TIMEBASE));
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		char name[16];

		snprintf(name, sizeof(name), "cpu@%u", i);
		MUST(fdt_begin_node(t, name));
		MUST(fdt_property_string(t, "device_type", "cpu"));
		MUST(fdt_property_u32(t, "reg", (uint32_t)machine.hart[i].id));
		MUST(fdt_property_string(t, "mmu-type", "riscv,sv57"));
		MUST(fdt_property_u32(t, "riscv,cbom-block-size", 64));
		write_isa(t);
		MUST(fdt_begin_node(t, "interrupt-controller"));
		MUST(fdt_property(t, "interrupt-controller", NULL, 0));
		MUST(fdt_property_u32(t, "phandle", INTC(i)));
		MUST(fdt_end_node(t));
		MUST(fdt_end_node(t));
	}
	MUST(fdt_end_node(t));
}

static void write_devices(void *t)
{
	fdt32_t to[] = {cpu_to_fdt32(INTC(0)), cpu_to_fdt32(IRQ_SEI)};

	MUST(fdt_begin_node(t, "plic"));
	MUST(fdt_property_string(t, "compatible", "riscv,plic0"));
	property_u64s(t, "reg", (const uint64_t[]){0xc000000, 0x400000}, 2);
	MUST(fdt_property(t, "interrupts-extended", to, sizeof(to)));
	MUST(fdt_end_node(t));
	MUST(fdt_begin_node(t, "uart"));
	MUST(fdt_property_string(t, "compatible", "ns16550a"));
	property_u64s(t, "reg", (const uint64_t[]){0x10000000, 0x100}, 2);
	MUST(fdt_property_u32(t, "interrupts", 10));
	MUST(fdt_end_node(t));
}

static void write_chosen(void *t, const struct machine_kind *k)
{
	uint8_t *tree = vm_tree();
	uint8_t seed[32] = {(uint8_t)chance(luck())};
	char args[128];

	snprintf(args, sizeof(args), "x%s%s%s", k->interactive ? " tally.console=interactive" : "",
	         k->frames ? " tally.console=frames" : "", k->roam ? " tally.roam" : "");
	MUST(fdt_begin_node(t, "chosen"));
	property_u64s(t, "linux,initrd-start", (const uint64_t[]){(uint64_t)tree}, 1);
	property_u64s(t, "linux,initrd-end",
	              (const uint64_t[]){(uint64_t)tree + fdt_totalsize(tree)}, 1);
	MUST(fdt_property_string(t, "bootargs", args));
	MUST(fdt_property(t, "rng-seed", seed, sizeof(seed)));
	MUST(fdt_end_node(t));
}

void *machine_host_tree(const struct machine_kind *kind)
{
	static _Alignas(8) uint8_t t[HOST_BYTES];
	uint64_t base = ALIGN_DOWN((uint64_t)&platform, 2UL << 20);

	if ((uint64_t)&platform >= (uint64_t)_image_end)
		abort(); /* machine_ram.c was not linked last */
	MUST(fdt_create(t, sizeof(t)));
	MUST(fdt_finish_reservemap(t));
	MUST(fdt_begin_node(t, ""));
	MUST(fdt_property_u32(t, "#address-cells", 2));
	MUST(fdt_property_u32(t, "#size-cells", 2));
	MUST(fdt_begin_node(t, "memory"));
	MUST(fdt_property_string(t, "device_type", "memory"));
	property_u64s(t, "reg", (const uint64_t[]){base, (uint64_t)_image_end + MACHINE_RAM - base},
	              2);
	MUST(fdt_end_node(t));
	write_cpus(t);
	write_devices(t);
	write_chosen(t, kind);
	MUST(fdt_end_node(t));
	MUST(fdt_finish(t));
	return t;
}
