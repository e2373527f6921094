/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include <libfdt.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/isa.h"
#include "core/boot/bootargs.h"
#include "core/hart/platform.h"
#include "core/host/host_cpus.h"
#include "core/host/host_memory.h"
#include "core/host/host_tree.h"
#include "core/life/seed.h"
#include "core/panic.h"
#include <string.h>

#define UNKNOWN UINT32_MAX
static void read_memory(const void *dtb, struct vm_range image)
{
	struct host_reserved kept;

	if (!host_memory_find(dtb, image, &platform.ram))
		platform_lacks("host tree: no memory node holds Tally's own address");
	if (!host_memory_keep(dtb, image, &platform.ram, &kept))
		platform_lacks("host tree: /reserved-memory: %s: 0x%lx lies in Tally or its tables",
		               fdt_get_name(dtb, kept.node, NULL), kept.range.from);
}

static uint64_t read_isa(const void *dtb, int cpu)
{
	int len;
	const char *list = fdt_getprop(dtb, cpu, "riscv,isa-extensions", &len);

	if (list)
		return isa_list(list, (size_t)len);
	list = fdt_getprop(dtb, cpu, "riscv,isa", &len);
	return list ? isa_parse(list, (size_t)len) : 0;
}

static const char *known_mmu_type(const void *dtb, int cpu)
{
	if (host_tree_says(dtb, cpu, "mmu-type", "riscv,sv57"))
		return "riscv,sv57";
	return host_tree_says(dtb, cpu, "mmu-type", "riscv,sv48") ? "riscv,sv48" : "riscv,sv39";
}

static void read_timebase(const void *dtb, int node)
{
	const char *why = host_clock(dtb, node, &platform.timebase);

	if (why)
		platform_lacks("host tree: %s: %s", fdt_get_name(dtb, node, NULL), why);
}

static void read_hart(const struct host_cpu *cpu)
{
	struct platform_hart *h = &platform.harts[platform.n_harts++];

	h->hartid = cpu->hartid;
	h->isa = read_isa(cpu->tree, cpu->node);
	h->intc_phandle = host_cpu_intc(cpu);
	h->blocks.zicbom = host_tree_u32(cpu->tree, cpu->node, "riscv,cbom-block-size", 0);
	h->blocks.zicboz = host_tree_u32(cpu->tree, cpu->node, "riscv,cboz-block-size", 0);
	h->blocks.zicbop = host_tree_u32(cpu->tree, cpu->node, "riscv,cbop-block-size", 0);
}

/* Removes the last hart that cannot run guests, to make room for one that can. */
static void make_room(uint64_t boot_hartid)
{
	for (uint32_t i = platform.n_harts; i--;) {
		if (platform.harts[i].hartid == boot_hartid ||
		    !hart_unusable(platform.harts[i].hartid, platform.harts[i].isa))
			continue;
		for (platform.n_harts--; i < platform.n_harts; i++)
			platform.harts[i] = platform.harts[i + 1];
		platform.harts_unused++;
		return;
	}
}

/* Reads the boot hart and as many others as there is room for, preferring harts that can run
 * guests. */
static void read_cpus(const void *dtb, uint64_t boot_hartid)
{
	struct host_cpu cpu = host_cpus(dtb);

	if (cpu.cpus < 0)
		platform_lacks("host tree: " HOST_NO_CPUS);
	read_timebase(dtb, cpu.cpus);
	while (host_cpu_next(&cpu)) {
		if (cpu.disabled)
			continue;
		read_timebase(dtb, cpu.node);
		if (cpu.hartid == boot_hartid && !platform.mmu_type)
			platform.mmu_type = known_mmu_type(dtb, cpu.node);
		if (platform.n_harts == MAX_HARTS - !platform.mmu_type &&
		    !hart_unusable(cpu.hartid, read_isa(dtb, cpu.node)))
			make_room(boot_hartid);
		if (platform.n_harts < MAX_HARTS - !platform.mmu_type)
			read_hart(&cpu);
		else
			platform.harts_unused++;
	}
	if (!platform.timebase)
		platform_lacks("host tree: " HOST_NO_CLOCK);
	if (!platform.mmu_type)
		platform_lacks("host tree: /cpus has no node of boot hart %lu, or it is disabled",
		               boot_hartid);
}

_Static_assert(MAX_HARTS == 64, "below");

/* Of a hart that has no place in the table. Returns NULL if the tree has no hart with this id. */
static const char *why_unread(uint64_t hartid)
{
	struct host_cpu cpu = host_cpus(platform.host_tree);
	const char *why;

	while (host_cpu_next(&cpu)) {
		if (cpu.hartid != hartid)
			continue;
		if (cpu.disabled)
			return "the tree disables it";
		why = hart_unusable(hartid, read_isa(cpu.tree, cpu.node));
		return why ? why : "Tally runs on 64 harts at most";
	}
	return NULL;
}

const char *hart_why_unused(uint64_t hartid)
{
	const struct platform_hart *listed = platform_hart(hartid);

	if (listed)
		return listed->unused;
	return platform.host_tree ? why_unread(hartid) : NULL;
}

/* Finds each hart's S-mode external interrupt (9) in interrupts-extended of a controller; its index
 * there is the hart's place. Returns false if the boot hart has none. */
static bool find_places(const void *dtb, int node, uint64_t boot_hartid)
{
	bool found = false;
	int len;
	const fdt32_t *ext = fdt_getprop(dtb, node, "interrupts-extended", &len);

	for (uint32_t i = 0; i < platform.n_harts; i++)
		platform.harts[i].irq_place = IRQCHIP_NOWHERE;
	for (int at = 0; ext && at + 1 < len / 4; at += 2) {
		if (fdt32_to_cpu(ext[at + 1]) != IRQ_SEI)
			continue;
		for (uint32_t i = 0; i < platform.n_harts; i++) {
			if (platform.harts[i].intc_phandle != fdt32_to_cpu(ext[at]))
				continue;
			platform.harts[i].irq_place = (uint32_t)at / 2;
			found |= platform.harts[i].hartid == boot_hartid;
		}
	}
	return found;
}

/* Returns the address at `offset` into the entries of reg, as if they were contiguous, each rounded
 * up to a multiple of `page` bytes; ~0 if there is none. */
static uint64_t read_registers_at(const void *dtb, int node, uint64_t page, uint64_t offset)
{
	struct host_place place = host_place_of(dtb, node);
	uint64_t base, size;

	for (uint32_t i = 0; host_tree_reg(&place, i, &base, &size) == HOST_REG_OK; i++) {
		if (offset < size)
			return base + offset;
		if (offset < ALIGN_UP(size, page))
			return ~0UL;
		offset -= ALIGN_UP(size, page);
	}
	return ~0UL;
}

/* If the IMSICs are in groups: changes each hart's place to its hart index at the APLIC, and the
 * base to that of group 0. Returns false if the interrupt files are not where the numbers of group
 * and hart require. */
static bool place_groups(const void *dtb, int node, struct imsic *imsic)
{
	uint32_t groups = host_tree_u32(dtb, node, "riscv,group-index-bits", 0);
	uint32_t page = 12 + imsic->file_bits;
	uint32_t harts = host_tree_u32(dtb, node, "riscv,hart-index-bits", UNKNOWN);
	uint32_t shift = host_tree_u32(dtb, node, "riscv,group-index-shift", 24);
	int n = 0;

	if (!groups)
		return true;
	(void)fdt_getprop(dtb, node, "interrupts-extended", &n);
	if (harts == UNKNOWN)
		for (harts = 0; n > 8 << harts;)
			harts++;
	if (harts > 14 || groups > 14 || harts + groups > 14 || page + harts > shift ||
	    shift + groups > 56)
		return false;
	imsic->base = ~0UL;
	for (uint32_t i = 0; i < platform.n_harts; i++) {
		uint32_t *place = &platform.harts[i].irq_place;
		uint64_t at = read_registers_at(dtb, node, BIT(page), (uint64_t)*place << page),
		         base;
		uint64_t hart = at >> page & (BIT(harts) - 1);
		uint64_t group = at >> shift & (BIT(groups) - 1);

		if (*place == IRQCHIP_NOWHERE)
			continue;
		base = at - (hart << page) - (group << shift);
		if (at == ~0UL || (imsic->base != ~0UL && imsic->base != base))
			return false;
		imsic->base = base;
		*place = (uint32_t)(group << harts | hart);
	}
	imsic->hart_bits = harts;
	imsic->group_shift = shift;
	return true;
}

/* Finds the guest interrupt files, if there are any. Returns false if the harts' places are not
 * known. */
static bool read_imsic(const void *dtb, int node)
{
	struct imsic imsic = {.file_bits = host_tree_u32(dtb, node, "riscv,guest-index-bits", 0)};
	uint64_t size;

	if (imsic.file_bits > 6 || !host_tree_registers(dtb, node, &imsic.base, &size))
		return true;
	if (!place_groups(dtb, node, &imsic))
		return false;
	for (uint32_t i = 0; i < platform.n_harts && !imsic.group_shift; i++) {
		uint64_t place = platform.harts[i].irq_place;

		if (place != IRQCHIP_NOWHERE && (place + 1) << imsic.file_bits > size / PAGE_SIZE)
			return true;
	}
	imsic.ids = host_tree_u32(dtb, node, "riscv,num-guest-ids",
	                          host_tree_u32(dtb, node, "riscv,num-ids", 0));
	if (imsic.file_bits && imsic.ids <= IMSIC_MAX_IDS)
		platform.imsic = imsic;
	return true;
}

static bool read_irqchip(const void *dtb, const struct host_chip *chip, uint64_t boot_hartid)
{
	enum irqchip_kind kind = chip->cells == 1 ? IRQCHIP_PLIC : IRQCHIP_APLIC;
	uint32_t imsic = host_tree_u32(dtb, chip->node, "msi-parent", 0);
	int knows_harts = chip->node;
	uint64_t base, size;

	if (kind == IRQCHIP_APLIC && imsic) {
		kind = IRQCHIP_IMSIC;
		knows_harts = fdt_node_offset_by_phandle(dtb, imsic);
	}
	if (!find_places(dtb, knows_harts, boot_hartid) ||
	    !host_tree_registers(dtb, chip->node, &base, &size) ||
	    (kind == IRQCHIP_IMSIC && !read_imsic(dtb, knows_harts)))
		return false;
	platform.irqchip = (struct irqchip){.kind = kind, .base = base, .size = size};
	return true;
}

/* There may be two APLICs: one for M-mode and one for S-mode. */
static void find_irqchip(const void *dtb, uint64_t boot_hartid)
{
	struct host_chip chip = {.node = -1};

	while (host_chip_next(dtb, &chip) && !read_irqchip(dtb, &chip, boot_hartid))
		;
}

/* Returns the UART's interrupt at the harts' controller, or 0 if it has none there. */
static uint32_t read_uart_irq(const void *dtb, int node)
{
	struct host_place place = host_place_of(dtb, node);
	struct host_chip chip = host_tree_chip(dtb);
	struct host_irq irq;

	if (chip.node < 0 || platform.irqchip.kind == IRQCHIP_NONE ||
	    host_tree_irq(&place, &chip, 0, &irq) <= 0)
		return 0;
	return irq.source <= chip.sources ? irq.source : 0;
}

static void read_uart(const void *dtb)
{
	int node = host_tree_console(dtb);
	uint64_t base, size;

	if (node < 0 || !host_tree_registers(dtb, node, &base, &size))
		return;
	platform.uart_base = base + host_tree_u32(dtb, node, "reg-offset", 0);
	platform.uart_size = size;
	platform.uart_shift = host_tree_u32(dtb, node, "reg-shift", 0);
	platform.uart_width = host_tree_u32(dtb, node, "reg-io-width", 1);
	platform.uart_irq = read_uart_irq(dtb, node);
}

static void read_vm_tree_place(const void *dtb, int chosen)
{
	int start_len, end_len;

	if (chosen < 0)
		return;
	const fdt32_t *start = fdt_getprop(dtb, chosen, "linux,initrd-start", &start_len);
	const fdt32_t *end = fdt_getprop(dtb, chosen, "linux,initrd-end", &end_len);

	if (start && end) {
		uint64_t from = host_tree_cells(start, start_len / 4);
		uint64_t to = host_tree_cells(end, end_len / 4);

		platform.tree_base = from;
		platform.tree_size = to > from ? to - from : 0;
	}
}

/*
 * Takes the host's seed as the key of the guests' seeds, and erases it from the tree: a guest may
 * get that memory. A tree outside RAM is not erased: no guest gets it.
 */
static void take_seed(void *dtb, int chosen)
{
	int len = 0;
	void *seed = chosen < 0 ? NULL : fdt_getprop_w(dtb, chosen, "rng-seed", &len);

	if (!seed || !seed_take(seed, (size_t)len))
		return;
	if (vm_bank_of(&platform.ram, (uint64_t)(uintptr_t)seed))
		memset(seed, 0, (size_t)len);
}

void host_dt_read(void *dtb, uint64_t boot_hartid, struct vm_range image)
{
	/* The firmware made this tree, so the size in its header is trusted. */
	if (!dtb || fdt_check_header(dtb) || fdt_check_full(dtb, fdt_totalsize(dtb)))
		platform_lacks("the host device tree that the firmware gave is damaged");
	int chosen = fdt_subnode_offset(dtb, 0, "chosen");

	read_cpus(dtb, boot_hartid);
	find_irqchip(dtb, boot_hartid);
	read_uart(dtb);
	if (!host_iommu_find(dtb, &platform.iommu))
		platform.iommu = (struct host_iommu){0};
	read_vm_tree_place(dtb, chosen);
	bootargs_read(dtb);
	read_memory(dtb, image);
	take_seed(dtb, chosen);
}
