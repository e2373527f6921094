/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/host.h"

#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>
#include <string.h>

#include "arch/riscv/hart/isa.h"
#include "core/host/host_tree.h"

static const char *const dma_names[] = {
    [VM_DMA_NONE] = "none",
    [VM_DMA_ISOLATED] = "isolated",
    [VM_DMA_TRUSTED] = "trusted",
};

static const char *const reset_names[] = {
    [VM_RESET_UNKNOWN] = NULL,      [VM_RESET_GOLDFISH_RTC] = "goldfish-rtc",
    [VM_RESET_NS16550] = "ns16550", [VM_RESET_VIRTIO_MMIO] = "virtio-mmio",
    [VM_RESET_PCI] = NULL,
};

static const char *const mode_names[] = {
    [VM_IRQ_UNKNOWN] = "unknown",      [VM_IRQ_RISING] = "rising edge",
    [VM_IRQ_FALLING] = "falling edge", [VM_IRQ_HIGH] = "high level",
    [VM_IRQ_LOW] = "low level",
};

const char *host_is_wrong(const void *tree, size_t size)
{
	if (size < sizeof(struct fdt_header) || fdt_check_header(tree))
		return "is not a device tree blob";
	if (fdt_totalsize(tree) > size || fdt_check_full(tree, size))
		return "is a device tree blob that is cut short or broken inside";
	if (host_tree_says(tree, 0, "compatible", VM_TREE_COMPATIBLE))
		return "is a VM tree, not the host's device tree";
	if (fdt_subnode_offset(tree, 0, "cpus") < 0)
		return "has no /cpus, so it is not a host's device tree";
	return NULL;
}

const char *host_lacks(const void *tree)
{
	static char text[128];
	struct host_cpu cpu = host_cpus(tree);
	int node = cpu.cpus;
	const char *why;
	uint32_t hz = 0;

	if (node < 0)
		return HOST_NO_CPUS;
	why = host_clock(tree, node, &hz);
	while (!why && host_cpu_next(&cpu)) {
		node = cpu.node;
		if (!cpu.disabled)
			why = host_clock(tree, node, &hz);
	}
	if (!why)
		return hz ? NULL : HOST_NO_CLOCK;
	snprintf(text, sizeof(text), "%s: %s", fdt_get_name(tree, node, NULL), why);
	return text;
}

const char *host_input_lacks(const void *tree)
{
	int uart = host_tree_console(tree);
	struct host_place place = host_place_of(tree, uart);
	struct host_chip chip = host_tree_chip(tree);
	struct host_irq irq;
	uint64_t base, size;

	if (uart < 0 || !host_tree_registers(tree, uart, &base, &size))
		return HOST_NO_UART;
	if (chip.node < 0)
		return HOST_NO_CHIP;
	/* Boot reads no keys then, and does not say it. */
	if (host_tree_irq(&place, &chip, 0, &irq) <= 0 || irq.source > chip.sources)
		return "nothing: the UART has no interrupt at the controller that Tally knows";
	return NULL;
}

/* A list of extensions is right where a string is there, too, as at boot. */
static uint64_t isa_of(const void *tree, int cpu)
{
	int size;
	const char *list = fdt_getprop(tree, cpu, "riscv,isa-extensions", &size);

	if (list)
		return isa_list(list, (size_t)size);
	list = fdt_getprop(tree, cpu, "riscv,isa", &size);
	return list ? isa_parse(list, (size_t)size) : 0;
}

bool host_hart_next(struct host_cpu *cpu, struct host_hart *hart)
{
	if (!host_cpu_next(cpu))
		return false;
	*hart = (struct host_hart){
	    .id = cpu->hartid,
	    .isa = isa_of(cpu->tree, cpu->node),
	    .zicbom = host_tree_u32(cpu->tree, cpu->node, "riscv,cbom-block-size", 0),
	    .zicboz = host_tree_u32(cpu->tree, cpu->node, "riscv,cboz-block-size", 0),
	    .zicbop = host_tree_u32(cpu->tree, cpu->node, "riscv,cbop-block-size", 0),
	    .disabled = cpu->disabled,
	};
	return true;
}

/* Goes to the node of the next hart that can run guests. Returns false if there is none. */
static bool next_hart(struct host_cpu *cpu, uint32_t *id, uint64_t *isa)
{
	struct host_hart hart;

	while (host_hart_next(cpu, &hart)) {
		*isa = hart.isa;
		*id = (uint32_t)hart.id;
		if (!hart.disabled && hart.isa & BIT(ISA_H) && hart.id <= UINT32_MAX)
			return true;
	}
	return false;
}

struct vm_harts host_harts(const void *tree)
{
	struct host_cpu cpu = host_cpus(tree);
	struct vm_harts harts = {0};
	uint64_t isa;
	uint32_t id;

	/* Which one boots nobody has said: it is taken for one of the first. */
	while (harts.n < VM_MAX_HARTS && next_hart(&cpu, &id, &isa)) {
		uint32_t at = harts.n;

		if (vm_hart(&harts, id) != VM_MAX_HARTS)
			continue;
		for (; at && harts.ids[at - 1] > id; at--)
			harts.ids[at] = harts.ids[at - 1];
		harts.ids[at] = id;
		harts.n++;
	}
	return harts;
}

uint64_t host_isa(const void *tree, uint32_t hartid)
{
	struct host_cpu cpu = host_cpus(tree);
	uint64_t isa;
	uint32_t id;

	while (next_hart(&cpu, &id, &isa)) {
		if (id == hartid)
			return isa;
	}
	return 0;
}

/* The path of a device's node, which the tree gave perhaps by an alias. */
static const char *path_of(const struct vm_device *device, const void *tree)
{
	static char path[256];

	return device->pci.given || fdt_get_path(tree, device->node, path, sizeof(path))
	           ? device->host
	           : path;
}

static void print_device(const struct vm_config *vm, const struct vm_device *d, const void *tree)
{
	const char *reset = reset_names[d->reset];

	printf("  device    %s: %s%s; dma %s%s%s\n", d->name, d->pci.given ? "PCI function " : "",
	       tree ? path_of(d, tree) : d->host, dma_names[d->dma],
	       d->dma_unchecked ? ", unchecked" : "",
	       d->pci.forced ? "; it may stop the machine" : "");
	for (uint32_t i = 0; i < d->n_regions; i++)
		printf("            registers 0x%" PRIx64 " to 0x%" PRIx64 "\n", d->regions[i].base,
		       d->regions[i].base + d->regions[i].size - 1);
	for (uint32_t i = 0; i < d->n_irqs; i++)
		printf("            interrupt %" PRIu32 " of the host as %" PRIu32 "%s%s\n",
		       d->irqs[i].source, d->irqs[i].guest, d->irqs[i].mode ? ", " : "",
		       d->irqs[i].mode ? mode_names[d->irqs[i].mode] : "");
	if (d->pci.given)
		printf("            whether it is there, and can be had, is checked at boot\n");
	else if (tree)
		printf("            reset     %s\n",
		       reset ? reset : "unknown: the VM has one life");
	if (d->dma == VM_DMA_TRUSTED)
		printf("            WARNING: it may write all memory: the counts of every VM rest "
		       "on the drivers of VM %s\n",
		       vm->name);
}

void print_devices(const struct vm_config *vm, const void *tree)
{
	for (uint32_t i = 0; i < vm->n_devices; i++)
		print_device(vm, &vm->devices[i], tree);
	if (vm->n_devices && !tree)
		printf("            checked for syntax and doubles only; the host's tree, by "
		       "--host, tells the rest\n");
}

/* The strings come from blobs, whose names dtc restricts; others are printed without what JSON does
 * not take. */
static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		putchar(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? '?' : *text);
	putchar('"');
}

static void print_json_device(const struct vm_device *d, const void *tree)
{
	printf("{\"name\":");
	print_text(d->name);
	printf(",\"host\":");
	print_text(d->host);
	printf(",\"pci\":%s,\"node\":", d->pci.given ? "true" : "false");
	if (tree && !d->pci.given)
		print_text(path_of(d, tree));
	else
		printf("null");
	printf(",\"dma\":\"%s\",\"dma_unchecked\":%s,\"registers\":[", dma_names[d->dma],
	       d->dma_unchecked ? "true" : "false");
	for (uint32_t i = 0; i < d->n_regions; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", d->regions[i].base,
		       d->regions[i].size);
	printf("],\"interrupts\":[");
	for (uint32_t i = 0; i < d->n_irqs; i++)
		printf("%s{\"host\":%" PRIu32 ",\"guest\":%" PRIu32 ",\"type\":\"%s\"}",
		       i ? "," : "", d->irqs[i].source, d->irqs[i].guest,
		       mode_names[d->irqs[i].mode]);
	printf("],\"reset\":");
	if (reset_names[d->reset])
		print_text(reset_names[d->reset]);
	else
		printf("null");
	printf("}");
}

void print_json_devices(const struct vm_config *vm, const void *tree)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (i)
			putchar(',');
		print_json_device(&vm->devices[i], tree);
	}
}
