/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/host_dt.h"

#include <libfdt.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/isa.h"
#include "core/boot/dt_path.h"
#include "core/panic.h"
#include "core/vm/platform.h"
#include "core/vm/seed.h"
#include <string.h>

struct platform platform;

static uint64_t read_cells(const fdt32_t *cells, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n && i < 2; i++)
		v = v << 32 | fdt32_to_cpu(cells[i]);
	return v;
}

/* Reads the first address and size in reg of a node whose parent is `parent`. */
static bool read_reg(const void *dtb, int node, int parent, uint64_t *base, uint64_t *size)
{
	int ac = fdt_address_cells(dtb, parent), sc = fdt_size_cells(dtb, parent), len;
	const fdt32_t *reg = fdt_getprop(dtb, node, "reg", &len);

	if (!reg || ac < 1 || ac > 2 || sc < 0 || sc > 2 || len < 4 * (ac + sc))
		return false;
	*base = read_cells(reg, ac);
	*size = read_cells(reg + ac, sc);
	return true;
}

static uint32_t read_u32(const void *dtb, int node, const char *name, uint32_t fallback)
{
	int len;
	const fdt32_t *p = fdt_getprop(dtb, node, name, &len);

	return p && len == 4 ? fdt32_to_cpu(*p) : fallback;
}

/* With the NUL that ends it. */
static bool is_text(const void *dtb, int node, const char *name, const char *text)
{
	int len, n = (int)strlen(text) + 1;
	const char *value = fdt_getprop(dtb, node, name, &len);

	return value && len >= n && memcmp(value, text, (size_t)n) == 0;
}

static bool is_disabled(const void *dtb, int node)
{
	int len;

	return fdt_getprop(dtb, node, "status", &len) && len > 0 &&
	       !is_text(dtb, node, "status", "okay") && !is_text(dtb, node, "status", "ok");
}

static void read_memory(const void *dtb)
{
	uint64_t here = (uint64_t)(uintptr_t)&platform;
	int node;

	fdt_for_each_subnode(node, dtb, 0)
	{
		uint64_t base, size;

		if (!is_text(dtb, node, "device_type", "memory") ||
		    !read_reg(dtb, node, 0, &base, &size))
			continue;
		/* One that goes on beyond the last address is none. */
		if (here >= base && here - base < size && size <= ~base) {
			platform.ram_base = base;
			platform.ram_size = size;
		}
	}
	if (!platform.ram_size)
		platform_lacks("host tree: no memory node holds Tally's own address");
}

static uint64_t read_isa(const void *dtb, int cpu)
{
	int len;
	const char *list = fdt_getprop(dtb, cpu, "riscv,isa-extensions", &len);
	uint64_t isa = 0;

	if (list) {
		for (int at = 0; at < len;) {
			const char *end = memchr(list + at, 0, (size_t)(len - at));

			if (!end)
				break;
			isa |= isa_bit(list + at, (size_t)(end - (list + at)));
			at = (int)(end - list) + 1;
		}
		return isa;
	}
	list = fdt_getprop(dtb, cpu, "riscv,isa", &len);
	return list ? isa_parse(list, (size_t)len) : 0;
}

static const char *known_mmu_type(const void *dtb, int cpu)
{
	static const char *const types[] = {"riscv,sv57", "riscv,sv48"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (is_text(dtb, cpu, "mmu-type", types[i]))
			return types[i];
	}
	return "riscv,sv39";
}

static void read_cpus(const void *dtb, uint64_t boot_hartid)
{
	int cpus = fdt_subnode_offset(dtb, 0, "cpus"), cpu;

	if (cpus < 0)
		platform_lacks("host tree: no /cpus");
	platform.timebase = read_u32(dtb, cpus, "timebase-frequency", 0);
	if (!platform.timebase)
		platform_lacks("host tree: /cpus: no timebase-frequency");
	fdt_for_each_subnode(cpu, dtb, cpus)
	{
		uint64_t hartid, size;
		int intc;

		if (!fdt_getprop(dtb, cpu, "device_type", NULL) || is_disabled(dtb, cpu) ||
		    !read_reg(dtb, cpu, cpus, &hartid, &size))
			continue;
		if (platform.n_harts == MAX_HARTS)
			break;
		uint32_t i = platform.n_harts++;

		platform.harts[i].hartid = hartid;
		platform.harts[i].isa = read_isa(dtb, cpu);
		platform.harts[i].blocks = (struct cbo_blocks){
		    .zicbom = read_u32(dtb, cpu, "riscv,cbom-block-size", 0),
		    .zicboz = read_u32(dtb, cpu, "riscv,cboz-block-size", 0),
		    .zicbop = read_u32(dtb, cpu, "riscv,cbop-block-size", 0),
		};
		if (hartid == boot_hartid)
			platform.mmu_type = known_mmu_type(dtb, cpu);
		fdt_for_each_subnode(intc, dtb, cpu)
		{
			if (fdt_getprop(dtb, intc, "interrupt-controller", NULL))
				platform.harts[i].intc_phandle = fdt_get_phandle(dtb, intc);
		}
	}
}

/* Returns the index of the boot hart's S-mode external interrupt (9) in interrupts-extended of a
 * controller. -1: it is not there. */
static int boot_hart_at(const void *dtb, int node, uint64_t boot_hartid)
{
	uint32_t intc = 0;
	int len;

	for (uint32_t i = 0; i < platform.n_harts; i++) {
		if (platform.harts[i].hartid == boot_hartid)
			intc = platform.harts[i].intc_phandle;
	}
	const fdt32_t *ext = fdt_getprop(dtb, node, "interrupts-extended", &len);

	for (int i = 0; ext && i + 1 < len / 4; i += 2) {
		if (fdt32_to_cpu(ext[i]) == intc && fdt32_to_cpu(ext[i + 1]) == IRQ_SEI)
			return i / 2;
	}
	return -1;
}

static bool read_irqchip(const void *dtb, int node, enum irqchip_kind kind, uint64_t boot_hartid)
{
	uint32_t imsic = read_u32(dtb, node, "msi-parent", 0);
	uint64_t base, size;
	int hart;

	if (kind == IRQCHIP_APLIC && imsic) {
		kind = IRQCHIP_IMSIC;
		hart = boot_hart_at(dtb, fdt_node_offset_by_phandle(dtb, imsic), boot_hartid);
	} else {
		hart = boot_hart_at(dtb, node, boot_hartid);
	}
	if (hart < 0 || !read_reg(dtb, node, fdt_parent_offset(dtb, node), &base, &size))
		return false;
	platform.irqchip =
	    (struct irqchip){.kind = kind, .base = base, .size = size, .hart = (uint32_t)hart};
	return true;
}

/* There may be two APLICs: one for M-mode and one for S-mode. */
static void find_irqchip(const void *dtb, uint64_t boot_hartid)
{
	static const struct {
		const char *compatible;
		enum irqchip_kind kind;
	} known[] = {
	    {"riscv,plic0", IRQCHIP_PLIC},
	    {"sifive,plic-1.0.0", IRQCHIP_PLIC},
	    {"riscv,aplic", IRQCHIP_APLIC},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		int node = -1;

		while ((node = fdt_node_offset_by_compatible(dtb, node, known[i].compatible)) >=
		       0) {
			if (!is_disabled(dtb, node) &&
			    read_irqchip(dtb, node, known[i].kind, boot_hartid))
				return;
		}
	}
}

static void read_uart(const void *dtb, int chosen)
{
	int len, node = -1;
	const char *path = chosen >= 0 ? fdt_getprop(dtb, chosen, "stdout-path", &len) : NULL;
	uint64_t base, size;

	if (path && len > 0) {
		const char *end = memchr(path, ':', (size_t)len);

		if (!end)
			end = memchr(path, 0, (size_t)len);
		if (end)
			node = dt_path(dtb, path, (size_t)(end - path));
	}
	if (node < 0 || fdt_node_check_compatible(dtb, node, "ns16550a"))
		node = fdt_node_offset_by_compatible(dtb, -1, "ns16550a");
	if (node < 0 || !read_reg(dtb, node, fdt_parent_offset(dtb, node), &base, &size))
		return;
	platform.uart_base = base;
	platform.uart_size = size;
	platform.uart_shift = read_u32(dtb, node, "reg-shift", 0);
	/* The PLIC has one cell. The APLIC has a second one, the type of the interrupt. */
	const fdt32_t *irq = fdt_getprop(dtb, node, "interrupts", &len);

	platform.uart_irq = irq && len >= 4 ? fdt32_to_cpu(*irq) : 0;
}

/* Returns what follows the beginning of a word. NULL: no word begins so. */
static const char *word_of(const char *args, const char *begin)
{
	size_t n = strlen(begin);

	for (const char *p = args; *p; p++) {
		if ((p == args || p[-1] == ' ') && !strncmp(p, begin, n))
			return p + n;
	}
	return NULL;
}

static bool has_word(const char *args, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = args; *p; p++) {
		if ((p == args || p[-1] == ' ') && !strncmp(p, word, n) && (!p[n] || p[n] == ' '))
			return true;
	}
	return false;
}

static void read_trip(const char *args)
{
	const char *trip = word_of(args, "tally.trip=");
	size_t n = 0;

	while (trip && trip[n] && trip[n] != ' ' && n + 1 < sizeof(platform.trip)) {
		platform.trip[n] = trip[n];
		n++;
	}
}

static void read_chosen(const void *dtb, int chosen)
{
	int start_len, end_len, len;

	if (chosen < 0)
		return;
	const fdt32_t *start = fdt_getprop(dtb, chosen, "linux,initrd-start", &start_len);
	const fdt32_t *end = fdt_getprop(dtb, chosen, "linux,initrd-end", &end_len);

	if (start && end) {
		uint64_t from = read_cells(start, start_len / 4);
		uint64_t to = read_cells(end, end_len / 4);

		platform.tree_base = from;
		platform.tree_size = to > from ? to - from : 0;
	}
	const char *args = fdt_getprop(dtb, chosen, "bootargs", &len);

	if (!args || len < 1 || args[len - 1])
		return;
	if (has_word(args, "tally.backend=sbi"))
		platform.backend = HPM_SBI;
	if (has_word(args, "tally.backend=ssccfg"))
		platform.backend = HPM_SSCCFG;
	platform.interactive = has_word(args, "tally.console=interactive");
	platform.frames = has_word(args, "tally.console=frames");
	platform.roam = has_word(args, "tally.roam");
	platform.broken = has_word(args, "tally.broken");
	platform.ledger = has_word(args, "tally.ledger");
	platform.no_vmids = has_word(args, "tally.no-vmids");
	platform.silent = has_word(args, "tally.silent-events");
	read_trip(args);
}

/*
 * Erases the seed from the tree, so that it exists only as the key of the guests' seeds, whoever
 * gets the tree's memory. A tree in another memory bank or in ROM is not given to a guest.
 */
static void take_seed(void *dtb, int chosen)
{
	int len = 0;
	void *seed = chosen < 0 ? NULL : fdt_getprop_w(dtb, chosen, "rng-seed", &len);

	if (!seed || !seed_take(seed, (size_t)len))
		return;
	if ((uint64_t)(uintptr_t)seed - platform.ram_base < platform.ram_size)
		memset(seed, 0, (size_t)len);
}

void host_dt_read(void *dtb, uint64_t boot_hartid)
{
	/* The firmware made this tree, so its own header may tell its size. */
	if (!dtb || fdt_check_header(dtb) || fdt_check_full(dtb, fdt_totalsize(dtb)))
		platform_lacks("the host device tree that the firmware gave is damaged");
	int chosen = fdt_subnode_offset(dtb, 0, "chosen");

	platform.virt = !fdt_node_check_compatible(dtb, 0, "riscv-virtio");
	read_memory(dtb);
	read_cpus(dtb, boot_hartid);
	find_irqchip(dtb, boot_hartid);
	read_uart(dtb, chosen);
	read_chosen(dtb, chosen);
	take_seed(dtb, chosen);
}
