/* SPDX-License-Identifier: Apache-2.0 */
/* The device trees that a machine boots with, at random: its own, and which VMs it has. */
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "tests/host/fake_iommu.h"
#include "tests/host/machine/machine.h"

#define HOST_BYTES   16384
#define VMS_BYTES    65536
#define KERNEL_BYTES 20000
#define PLIC         90U
#define IOMMU        91U
#define IMSIC        92U
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

/* Which VMs have vcpus on each hart, where each vcpu has one. */
static uint32_t on_hart[MACHINE_HARTS];

static void write_vcpu(void *t, uint32_t vm, uint32_t id, bool alone, uint32_t hart)
{
	fdt32_t harts[MACHINE_HARTS];
	uint32_t n = 0, first = below(luck(), machine.kind.harts);
	char name[16];

	if (alone)
		harts[n++] = cpu_to_fdt32((uint32_t)machine.hart[hart].id);
	if (!alone && machine.kind.schedules) {
		hart = first;
		harts[n++] = cpu_to_fdt32((uint32_t)machine.hart[hart].id);
		alone = true;
	}
	if (n)
		on_hart[hart] |= 1U << vm;
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

/* Some VMs choose one or two steps among five of their own; the two may touch. The last VM has the
 * lowest ones, which are where Tally would place the first VM. */
static void write_memory(void *t, uint32_t i)
{
	uint64_t all = ALIGN_DOWN((uint64_t)&platform, VM_MEMORY_STEP) + VM_RESERVED_MEMORY;
	uint64_t own = all + 5 * VM_MEMORY_STEP * (machine.kind.n_vms - 1 - i);
	uint64_t at[4] = {own + VM_MEMORY_STEP * below(luck(), 2), VM_MEMORY_STEP,
	                  own + VM_MEMORY_STEP * (2 + below(luck(), 3)), VM_MEMORY_STEP};
	uint32_t n = percent(luck(), 50) ? 1 : 2;

	if (percent(luck(), 60)) {
		property_u64s(t, "memory", (const uint64_t[]){VM_MEMORY_STEP}, 1);
		return;
	}
	if (percent(luck(), 50)) {
		uint64_t first = at[0];

		at[0] = at[2];
		at[2] = first;
	}
	property_u64s(t, "memory-at", at, 2 * n);
	if (percent(luck(), 50))
		property_u64s(t, "memory", (const uint64_t[]){VM_MEMORY_STEP * n}, 1);
}

/* Each vcpu of a VM with an AIA is on one hart, which has a file left. Returns false if one has
 * none. */
static bool choose_files(uint32_t n_vcpus, uint32_t only, uint32_t harts[])
{
	static uint32_t taken[MACHINE_HARTS];

	for (uint32_t k = 0; k < n_vcpus; k++) {
		harts[k] = only < MACHINE_HARTS ? only : below(luck(), machine.kind.harts);
		if (taken[harts[k]] == machine.kind.files)
			return false; /* what the first ones have taken stays so */
		taken[harts[k]]++;
	}
	return true;
}

static void write_given(void *t, const char *node, const char *kind, const char *name,
                        const char *dma)
{
	MUST(fdt_begin_node(t, node));
	MUST(fdt_property_string(t, kind, name));
	MUST(fdt_property_string(t, "dma", dma));
	MUST(fdt_end_node(t));
}

/* Of instructions or cycles. Guests execute few, and many of those who have one spend it. */
static void write_budget(void *t)
{
	fdt32_t cells[3] = {
	    cpu_to_fdt32(1 + below(luck(), 2)),
	    cpu_to_fdt32(1000 + below(luck(), 100)),
	    cpu_to_fdt32(100 + below(luck(), 20000)),
	};

	MUST(fdt_property(t, "budget", cells, sizeof(cells)));
}

static bool has_aia[VM_MAX_VMS];

static void write_vm(void *t, uint32_t i)
{
	/* Where guests read the hart's flags each vcpu has a hart of its own. */
	bool alone = machine.kind.hart_flags;
	uint32_t n_vcpus = alone ? 1 : 1 + below(luck(), 3);
	uint32_t hart = i % machine.kind.harts, harts[3];
	bool own = alone ? machine.kind.n_vms <= machine.kind.harts
	                 : machine.kind.n_vms == 1 && n_vcpus == 1 && machine.kind.harts == 1;
	bool aia = machine.kind.files && percent(luck(), 60) &&
	           choose_files(n_vcpus, alone ? hart : MACHINE_HARTS, harts);
	bool budget = !machine.kind.hart_flags && percent(luck(), 30);
	char name[24];

	snprintf(name, sizeof(name), "vm%u", i);
	MUST(fdt_begin_node(t, name));
	write_memory(t, i);
	if (budget)
		write_budget(t);
	has_aia[i] = aia;
	if (aia)
		MUST(fdt_property_string(t, "interrupts", "aia"));
	MUST(fdt_property_u32(t, "kernel", 1));
	if (percent(luck(), 50))
		MUST(fdt_property_u32(t, "initrd", 2));
	if (percent(luck(), 90)) {
		const char *after = percent(luck(), 70) ? "always" : "on-failure";

		MUST(fdt_property_string(t, "restart", after));
		MUST(fdt_property_u32(t, "restart-limit", percent(luck(), 80) ? 1000 : 3));
	}
	maybe(t, 30, "bad-access", "stop");
	if (percent(luck(), 20))
		MUST(fdt_property_u32(t, "share", 1 + below(luck(), 4)));
	if (own && !budget && !machine.kind.schedules)
		maybe(t, 50, "look", "off");
	if (machine.kind.n_vms > 1 && percent(luck(), 40)) {
		snprintf(name, sizeof(name), "vm%u", (i + 1) % machine.kind.n_vms);
		MUST(fdt_property_string(t, "controls", name));
	}
	if (percent(luck(), 25))
		MUST(fdt_property_u32(t, "heartbeat-ms", 1 + below(luck(), 20)));
	maybe(t, 30, "crash-exits", "on");
	if (i)
		maybe(t, 15, "boot", "defer");
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
	if (machine.kind.n_vms == 1 && !budget && !machine.kind.schedules)
		maybe(t, 30, "pmu-freeze", "vcpu");
	for (uint32_t k = 0; k < n_vcpus; k++)
		write_vcpu(t, i, k, alone || aia || budget, aia ? harts[k] : hart);
	MUST(fdt_begin_node(t, "devices"));
	if (percent(luck(), 60)) {
		snprintf(name, sizeof(name), "/clock%u", i);
		write_given(t, "clock", "host", name, "none");
	}
	if (machine.kind.iommu && percent(luck(), 60)) {
		snprintf(name, sizeof(name), "00:%02x.0", i + 1);
		write_given(t, "function", "pci", name, "isolated");
	}
	MUST(fdt_end_node(t));
	MUST(fdt_end_node(t));
}

/* All VMs share it, and the last one writes it. */
static void write_shared(void *t)
{
	bool bells = machine.kind.n_vms > 1 && percent(luck(), 70);

	MUST(fdt_begin_node(t, "shared"));
	MUST(fdt_begin_node(t, "ring"));
	property_u64s(t, "size", (const uint64_t[]){MACHINE_SHARED}, 1);
	for (uint32_t i = 0; i < machine.kind.n_vms; i++) {
		char name[24];

		snprintf(name, sizeof(name), "vm%u", i);
		MUST(fdt_begin_node(t, name));
		property_u64s(t, "at", (const uint64_t[]){(i + 1ULL) << 36}, 1);
		if (i + 1 == machine.kind.n_vms)
			MUST(fdt_property_string(t, "access", "read-write"));
		if (bells)
			MUST(fdt_property_u32(t, "bell", MACHINE_BELL));
		if (bells && has_aia[i] && percent(luck(), 60))
			MUST(fdt_property_u32(t, "bell-identity", 1 + below(luck(), 63)));
		MUST(fdt_end_node(t));
	}
	MUST(fdt_end_node(t));
	MUST(fdt_end_node(t));
}

/* Each VM has a port of one. */
static void write_networks(void *t)
{
	char name[24];

	MUST(fdt_begin_node(t, "networks"));
	for (uint32_t n = 0; n < machine.kind.networks; n++) {
		snprintf(name, sizeof(name), "lan%u", n);
		MUST(fdt_begin_node(t, name));
		for (uint32_t i = n; i < machine.kind.n_vms; i += machine.kind.networks) {
			snprintf(name, sizeof(name), "vm%u", i);
			MUST(fdt_begin_node(t, name));
			MUST(fdt_end_node(t));
		}
		MUST(fdt_end_node(t));
	}
	MUST(fdt_end_node(t));
}

/* Each VM of the hart has a window, and sometimes a second one, or the slack. */
static void write_schedule(void *t, uint32_t hart)
{
	uint32_t n = 2 * machine.kind.n_vms, at = 0, guard = 0;
	char name[24];

	snprintf(name, sizeof(name), "hart%u", (uint32_t)machine.hart[hart].id);
	MUST(fdt_begin_node(t, name));
	MUST(fdt_property_u32(t, "major-frame-us", 1000 * n));
	if (percent(luck(), 50)) {
		snprintf(name, sizeof(name), "vm%u", (uint32_t)__builtin_ctz(on_hart[hart]));
		MUST(fdt_property_string(t, "slack", name));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t vm = i % machine.kind.n_vms;

		if (!(on_hart[hart] >> vm & 1) || (i != vm && percent(luck(), 50)))
			continue;
		at = 1000 * i + below(luck(), 300);
		guard = percent(luck(), 50) ? below(luck(), 100) : 0;
		snprintf(name, sizeof(name), "window%u", i);
		MUST(fdt_begin_node(t, name));
		snprintf(name, sizeof(name), "vm%u", vm);
		MUST(fdt_property_string(t, "vm", name));
		MUST(fdt_property_u32(t, "start-us", at));
		MUST(fdt_property_u32(t, "length-us", 100 + below(luck(), 500)));
		MUST(fdt_property_u32(t, "guard-us", guard));
		MUST(fdt_end_node(t));
	}
	MUST(fdt_end_node(t));
}

static void write_schedules(void *t)
{
	MUST(fdt_begin_node(t, "schedules"));
	for (uint32_t i = 0; i < machine.kind.harts; i++)
		if (on_hart[i] && percent(luck(), 70))
			write_schedule(t, i);
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
	if (percent(luck(), 30))
		MUST(fdt_property_u32(t, "turn-us", 100 + below(luck(), 3000)));
	for (uint32_t i = 0; i < machine.kind.n_vms; i++)
		write_vm(t, i);
	MUST(fdt_end_node(t));
	write_shared(t);
	if (machine.kind.networks)
		write_networks(t);
	if (machine.kind.schedules)
		write_schedules(t);
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

/* Interrupts of the controller. With an APLIC each has a type behind it. */
static void property_irqs(void *t, uint32_t source, uint32_t n)
{
	static const uint32_t types[] = {1, 2, 4, 4, 4, 8};
	fdt32_t cells[2 * MACHINE_IOMMU_WIRES];
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		cells[used++] = cpu_to_fdt32(source + i);
		if (machine.kind.files)
			cells[used++] = cpu_to_fdt32(types[below(luck(), ARRAY_SIZE(types))]);
	}
	MUST(fdt_property(t, "interrupts", cells, (int)(4 * used)));
	MUST(fdt_property_u32(t, "interrupt-parent", PLIC));
}

static void write_imsics(void *t, const fdt32_t *to)
{
	MUST(fdt_begin_node(t, "imsics"));
	MUST(fdt_property_string(t, "compatible", "riscv,imsics"));
	property_u64s(
	    t, "reg",
	    (const uint64_t[]){MACHINE_IMSIC_BASE, MACHINE_HARTS * PAGE_SIZE << MACHINE_FILE_BITS},
	    2);
	MUST(fdt_property(t, "interrupts-extended", to, (int)(8 * machine.kind.harts)));
	MUST(fdt_property_u32(t, "riscv,num-ids", MACHINE_IDS));
	MUST(fdt_property_u32(t, "riscv,guest-index-bits", MACHINE_FILE_BITS));
	MUST(fdt_property_u32(t, "phandle", IMSIC));
	MUST(fdt_end_node(t));
}

static void write_devices(void *t)
{
	bool files = machine.kind.files;
	fdt32_t to[2 * MACHINE_HARTS];
	char name[16];

	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		to[2 * i] = cpu_to_fdt32(INTC(i));
		to[2 * i + 1] = cpu_to_fdt32(IRQ_SEI);
	}
	if (files)
		write_imsics(t, to);
	MUST(fdt_begin_node(t, files ? "aplic" : "plic"));
	MUST(fdt_property_string(t, "compatible", files ? "riscv,aplic" : "riscv,plic0"));
	property_u64s(t, "reg", (const uint64_t[]){0xc000000, files ? 0x8000 : 0x400000}, 2);
	if (files)
		MUST(fdt_property_u32(t, "msi-parent", IMSIC));
	else
		MUST(fdt_property(t, "interrupts-extended", to, (int)(8 * machine.kind.harts)));
	MUST(fdt_property_u32(t, "#interrupt-cells", files ? 2 : 1));
	MUST(fdt_property(t, "interrupt-controller", NULL, 0));
	MUST(fdt_property_u32(t, "phandle", PLIC));
	MUST(fdt_end_node(t));
	MUST(fdt_begin_node(t, "uart"));
	MUST(fdt_property_string(t, "compatible", "ns16550a"));
	property_u64s(t, "reg", (const uint64_t[]){0x10000000, 0x100}, 2);
	property_irqs(t, 10, 1);
	MUST(fdt_end_node(t));
	for (uint32_t i = 0; i < MACHINE_CLOCKS; i++) {
		snprintf(name, sizeof(name), "clock%u", i);
		MUST(fdt_begin_node(t, name));
		MUST(fdt_property_string(t, "compatible", "google,goldfish-rtc"));
		property_u64s(t, "reg",
		              (const uint64_t[]){MACHINE_CLOCK_BASE + i * PAGE_SIZE, PAGE_SIZE}, 2);
		property_irqs(t, MACHINE_CLOCK_IRQ + i, 1);
		MUST(fdt_end_node(t));
	}
}

static void write_iommu(void *t)
{
	const fdt32_t map[] = {0, cpu_to_fdt32(IOMMU), 0, cpu_to_fdt32(0x100)};
	const uint32_t window[] = {0x2000000,        0, MACHINE_PCI_BASE, 0,
	                           MACHINE_PCI_BASE, 0, MACHINE_PCI_SIZE};
	fdt32_t ranges[ARRAY_SIZE(window)];

	for (uint32_t i = 0; i < ARRAY_SIZE(window); i++)
		ranges[i] = cpu_to_fdt32(window[i]);

	MUST(fdt_begin_node(t, "iommu"));
	MUST(fdt_property_string(t, "compatible", "riscv,iommu"));
	property_u64s(t, "reg", (const uint64_t[]){FAKE_IOMMU_BASE, PAGE_SIZE}, 2);
	MUST(fdt_property_u32(t, "phandle", IOMMU));
	if (machine.kind.iommu_wires)
		property_irqs(t, MACHINE_IOMMU_IRQ, machine.kind.iommu_wires);
	MUST(fdt_end_node(t));
	MUST(fdt_begin_node(t, "pci"));
	MUST(fdt_property_string(t, "compatible", "pci-host-ecam-generic"));
	MUST(fdt_property_string(t, "device_type", "pci"));
	property_u64s(t, "reg", (const uint64_t[]){MACHINE_ECAM_BASE, MACHINE_ECAM_SIZE}, 2);
	MUST(fdt_property_u32(t, "#address-cells", 3));
	MUST(fdt_property_u32(t, "#size-cells", 2));
	MUST(fdt_property_u32(t, "#interrupt-cells", 1));
	MUST(fdt_property(t, "ranges", ranges, sizeof(ranges)));
	MUST(fdt_property(t, "iommu-map", map, sizeof(map)));
	MUST(fdt_end_node(t));
}

/* Puts the VM tree to the end of RAM, as a boot loader does. */
static const void *load_vm_tree(void)
{
	const void *tree = vm_tree();
	uint64_t end = ALIGN_DOWN((uint64_t)_image_end + MACHINE_RAM, VM_MEMORY_STEP);
	uint64_t at = ALIGN_DOWN(end - fdt_totalsize(tree), VM_MEMORY_STEP);

	return memcpy((void *)at, tree, fdt_totalsize(tree));
}

static void write_chosen(void *t, const struct machine_kind *k)
{
	const void *tree = load_vm_tree();
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
	if ((uint64_t)_image_end + MACHINE_RAM > GUEST_ADDRESS_END)
		abort(); /* linked without CORE_LDFLAGS */
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
	if (machine.kind.iommu)
		write_iommu(t);
	write_chosen(t, kind);
	MUST(fdt_end_node(t));
	MUST(fdt_finish(t));
	return t;
}
