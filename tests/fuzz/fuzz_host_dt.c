/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that the firmware gives: refused, or each promise of core/hart/platform.h kept, whatever
 * the tree says. Harts are counted by another walk than core/boot/host_dt.c makes. The header's
 * boot_cpuid_phys is the boot hart.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libfdt.h>

#include "arch/riscv/hart/isa.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/host/host_tree.h"
#include "core/life/seed.h"
#include "core/log.h"
#include "core/panic.h"
#include "tests/fuzz/fuzz.h"

/* Where the machines of the corpus have their memory. Tally lies in it. */
#define RAM_BASE (UINT64_C(0x80000000))

uint64_t host_csrs[4096];

static jmp_buf refused;
static const void *seed;

_Noreturn void platform_lacks(const char *format, ...)
{
	(void)format;
	longjmp(refused, 1);
}

/* core/boot/bootargs.c has a report, which nobody asks for here. */
void log_line(const char *format, ...)
{
	(void)format;
}

void boot_on_other_hart(uint64_t hartid, void *dtb)
{
	(void)hartid, (void)dtb;
}

bool seed_take(const void *host, size_t size)
{
	require(!seed);
	seed = size >= SEED_BYTES ? host : NULL;
	return seed;
}

static bool is(const void *tree, int node, const char *name, const char *value)
{
	int len;
	const char *text = fdt_getprop(tree, node, name, &len);

	/* With its NUL. */
	return text && len > (int)strlen(value) && memcmp(text, value, strlen(value) + 1) == 0;
}

/* It is not there, or has no value. */
static bool is_empty(const void *tree, int node, const char *name)
{
	int len;

	return !fdt_getprop(tree, node, name, &len) || len == 0;
}

/* Memory where the corpus has it is where this program is. */
static void place_tally(void *tree)
{
	fdt64_t *reg;
	int len;

	for (int node = 0; node >= 0; node = fdt_next_node(tree, node, NULL)) {
		reg = fdt_getprop_w(tree, node, "reg", &len);
		if (reg && is(tree, node, "device_type", "memory") && len >= 16 &&
		    fdt64_ld(reg) == RAM_BASE)
			fdt64_st(reg, ALIGN_DOWN((uint64_t)(uintptr_t)&platform, MIB(2)));
	}
}

/* Whether a node stands for a hart, and for which. */
static bool hart_of(const void *tree, int node, int cells, uint64_t *id)
{
	bool on = is(tree, node, "status", "okay") || is(tree, node, "status", "ok") ||
	          is_empty(tree, node, "status");
	const uint8_t *reg;
	int len;

	*id = 0;
	reg = fdt_getprop(tree, node, "reg", &len);
	if (!on || !reg || len < 4 * cells || !is(tree, node, "device_type", "cpu"))
		return false;
	for (int i = 0; i < 4 * cells; i++)
		*id = *id << 8 | reg[i];
	return true;
}

/* Each hart is a node's, in order, and each such node is a hart where there is room. The boot hart
 * is among them. Only where /cpus says what cells are, as all trees do. */
static void check_harts(const void *tree)
{
	bool booted = false;
	int cpus = fdt_path_offset(tree, "/cpus"), depth = 0;
	int cells = fdt_address_cells(tree, cpus);
	uint32_t n = 0, all = 0;

	if (cells < 1 || cells > 2 || fdt_size_cells(tree, cpus) != 0)
		return;
	for (int node = fdt_next_node(tree, cpus, &depth); node >= 0 && depth > 0;
	     node = fdt_next_node(tree, node, &depth)) {
		uint64_t id;

		if (depth > 1 || !hart_of(tree, node, cells, &id))
			continue;
		all++;
		if (n == platform.n_harts || platform.harts[n].hartid != id)
			continue;
		booted |= id == fdt_boot_cpuid_phys(tree);
		n++;
	}
	require(booted && n == platform.n_harts && n + platform.harts_unused == all);
	require(n == MAX_HARTS || !platform.harts_unused);
}

static void check_devices(const void *tree)
{
	int node = host_tree_console(tree);
	int chosen = fdt_path_offset(tree, "/chosen"), len;
	const char *args = chosen < 0 ? NULL : fdt_getprop(tree, chosen, "bootargs", &len);

	require(node >= 0 || (!platform.uart_base && !platform.uart_irq));
	require(!platform.uart_base || platform.uart_width == 1 || platform.uart_width == 4);
	require(platform.irqchip.kind <= IRQCHIP_IMSIC);
	require(platform.irqchip.kind != IRQCHIP_NONE || !platform.irqchip.base);
	if (!args)
		require(!platform.interactive && !platform.frames && !platform.inexact &&
		        platform.backend == HPM_AUTO);
}

/* Guest files of an APLIC's MSI controller only, and each hart's are where it says. */
static void check_imsic(void)
{
	const struct imsic *imsic = &platform.imsic;

	require(imsic->ids <= IMSIC_MAX_IDS);
	if (!imsic->ids)
		return;
	require(platform.irqchip.kind == IRQCHIP_IMSIC);
	require(imsic->file_bits >= 1 && imsic->file_bits <= 6);
	for (uint32_t i = 0; i < platform.n_harts; i++) {
		uint64_t place = platform.harts[i].irq_place;

		require(place == IRQCHIP_NOWHERE || place < 1 << 20);
	}
}

static void check_iommu(void)
{
	const struct host_iommu *iommu = &platform.iommu;

	require(iommu->n_wires <= HOST_IOMMU_WIRES && iommu->n_ranges <= HOST_IOMMU_RANGES);
	require(!iommu->size || (iommu->base % 4096 == 0 && iommu->size >= 4096));
	require(iommu->size || !(iommu->n_wires + iommu->n_ranges));
	for (uint32_t i = 0; i < iommu->n_wires; i++)
		require(iommu->wires[i].source);
	for (uint32_t i = 0; i < iommu->n_ranges; i++) {
		uint64_t last = (uint64_t)iommu->ranges[i].id + iommu->ranges[i].length - 1;

		require(iommu->ranges[i].length && last <= iommu->last_id);
	}
	require(iommu->last_id < 1 << 24);
}

/* Banks in order and apart, one of which has Tally; VMs, Tally and the VM tree are apart and in one
 * bank each. */
static void check_ram(uint64_t here)
{
	const struct vm_ram *ram = &platform.ram;
	struct vm_guests guests;
	struct vm_range blob = {platform.tree_base, platform.tree_base + platform.tree_size};
	const struct vm_range *at = guests.ranges;

	vm_guest_ranges(ram, &blob, &guests);
	require(ram->n >= 1 && ram->n <= VM_MAX_BANKS && guests.n <= ram->n + 2);
	require(vm_bank_of(ram, here) && vm_bank_of(ram, here) == vm_bank_of(ram, ram->tally));
	for (uint32_t i = 0; i < ram->n; i++) {
		require(ram->banks[i].from < ram->banks[i].to);
		require(!i || ram->banks[i - 1].to < ram->banks[i].from);
	}
	for (uint32_t i = 0; i < guests.n; i++) {
		require(at[i].from < at[i].to && (!i || at[i - 1].to <= at[i].from));
		require(vm_bank_of(ram, at[i].from) &&
		        vm_bank_of(ram, at[i].from) == vm_bank_of(ram, at[i].to - 1));
		require(at[i].to <= guests.kept.from || at[i].from >= guests.kept.to);
		require(at[i].to <= guests.tree.from || at[i].from >= guests.tree.to);
	}
	require(!platform.tree_size ||
	        (guests.tree.from <= blob.from &&
	         (guests.tree.to >= blob.to || guests.tree.to == -VM_MEMORY_STEP)));
	require(!guests.n || guests.kept.to - guests.kept.from == VM_RESERVED_MEMORY);
}

/* Whatever becomes of the tree's memory. */
static void check_platform(void)
{
	const char *mmu = platform.mmu_type;
	uint64_t here = (uint64_t)(uintptr_t)&platform;

	check_ram(here);
	require(platform.tree_base <= platform.tree_base + platform.tree_size);
	require(platform.timebase && platform.n_harts <= MAX_HARTS);
	for (uint32_t i = 0; i < platform.n_harts; i++)
		require(!(platform.harts[i].isa >> ISA_EXTENSIONS));
	check_imsic();
	check_iommu();
	require(!mmu || !strcmp(mmu, "riscv,sv39") || !strcmp(mmu, "riscv,sv48") ||
	        !strcmp(mmu, "riscv,sv57"));
}

/* Nothing of the tree is changed but the seed, which is gone from the memory that guests get. */
static void check_seed(const uint8_t *tree, const uint8_t *before, size_t size)
{
	static const uint8_t zeros[SEED_BYTES];
	uint64_t at = (uint64_t)(uintptr_t)seed;

	for (size_t i = 0; i < size; i++)
		require(tree[i] == before[i] ||
		        (seed && tree[i] == 0 && tree + i >= (const uint8_t *)seed));
	if (seed && vm_bank_of(&platform.ram, at))
		require(memcmp(seed, zeros, SEED_BYTES) == 0);
}

static bool is_tree(const uint8_t *data, size_t size)
{
	return size >= sizeof(struct fdt_header) && !fdt_check_header(data) &&
	       fdt_version(data) >= 17 && fdt_totalsize(data) <= size &&
	       fdt_off_dt_struct(data) % 4 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t here = (uint64_t)(uintptr_t)&platform;
	uint8_t *tree, *before;

	/* The firmware's header is believed. */
	if (!is_tree(data, size))
		return 0;
	tree = malloc(size);
	before = malloc(size);
	require(tree && before);
	memcpy(tree, data, size);
	if (!fdt_check_full(tree, size))
		place_tally(tree);
	memcpy(before, tree, size);
	platform = (struct platform){.n_harts = 0};
	seed = NULL;
	if (setjmp(refused) == 0) {
		host_dt_read(tree, fdt_boot_cpuid_phys(tree),
		             (struct vm_range){here, here + sizeof(platform)});
		check_seed(tree, before, size);
		check_harts(before);
		check_devices(before);
		free(tree);
		tree = NULL;
		check_platform();
	}
	free(tree);
	free(before);
	return 0;
}
