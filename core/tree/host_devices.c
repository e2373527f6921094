/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/dt_path.h"
#include "core/host/host_parents.h"
#include "core/host/host_claims.h"
#include "core/host/host_tree.h"
#include "core/lib/types.h"
#include "core/tree/device_node.h"
#include "core/tree/vm_memory.h"

#define PAGE          UINT64_C(4096)
#define PATH_BYTES    72U
#define REGISTERS_MAX UINT64_C(0x40000000) /* of a device, in bytes */

/* Devices that no VM may have, and the reason. */
static const struct {
	const char *property, *value; /* NULL: any value */
	const char *reason;
} kept[] = {
    {"compatible", "sifive,plic-1.0.0", "is an interrupt controller, which Tally drives"},
    {"compatible", "riscv,plic0", "is an interrupt controller, which Tally drives"},
    {"compatible", "riscv,aplic", "is an interrupt controller, which Tally drives"},
    {"compatible", "riscv,imsics", "is an interrupt controller, which Tally drives"},
    {"compatible", "sifive,clint0", "is the firmware's: it has the timers and IPIs of all harts"},
    {"compatible", "riscv,clint0", "is the firmware's: it has the timers and IPIs of all harts"},
    {"compatible", "thead,c900-clint",
     "is the firmware's: it has the timers and IPIs of all harts"},
    {"compatible", "riscv,aclint-mswi", "is the firmware's: it has the IPIs of all harts"},
    {"compatible", "riscv,aclint-sswi", "is the firmware's: it has the IPIs of all harts"},
    {"compatible", "riscv,aclint-mtimer", "is the firmware's: it has the timers of all harts"},
    {"compatible", "riscv,iommu", "is an IOMMU"},
    {"compatible", "riscv,pci-iommu", "is an IOMMU"},
    {"compatible", "sifive,test0", "switches the machine off"},
    {"compatible", "sifive,test1", "switches the machine off"},
    {"compatible", "syscon-poweroff", "switches the machine off"},
    {"compatible", "syscon-reboot", "switches the machine off"},
    {"compatible", "qemu,fw-cfg-mmio", "can write all memory, by a register of its own"},
    {"compatible", "pci-host-ecam-generic", "is a PCI host bridge, with the functions of all VMs"},
    {"device_type", "memory", "is memory: a VM has memory by its own properties"},
    {"device_type", "cpu", "is a hart: a VM has harts by its vcpus"},
    {"device_type", "pci", "is a PCI host bridge, with the functions of all VMs"},
    {"interrupt-controller", NULL, "is an interrupt controller"},
    {"msi-controller", NULL, "is an interrupt controller"},
    {"#iommu-cells", NULL, "is an IOMMU"},
};

/* Devices that cannot do DMA, by their bindings and hardware. */
static const char *const without_dma[] = {
    "google,goldfish-rtc", "ns16550a", "ns16550", "ns8250", "snps,dw-apb-uart", "sifive,uart0",
};

static const struct {
	const char *compatible;
	enum vm_device_reset reset;
	uint32_t bytes; /* bytes of registers, before reg-shift */
} resets[] = {
    {"google,goldfish-rtc", VM_RESET_GOLDFISH_RTC, 0x20},
    {"ns16550a", VM_RESET_NS16550, 8},
    {"ns16550", VM_RESET_NS16550, 8},
    {"virtio,mmio", VM_RESET_VIRTIO_MMIO, 0x100},
};

/* A device that is being looked up. */
struct search {
	const struct vm_node *n; /* in the VM tree */
	const void *host;
	struct vm_device *device;
};

static bool is(const struct search *s, const char *compatible)
{
	return host_tree_says(s->host, s->device->node, "compatible", compatible);
}

static bool refuse(const struct search *s, const char *reason)
{
	return vm_refuse(s->n, VM_REFUSED_DEVICE, "host", "%s", reason);
}

static bool find_node(struct search *s)
{
	const char *path = s->device->host;

	s->device->node = dt_path(s->host, path, strlen(path));
	if (s->device->node >= 0)
		return true;
	return refuse(s, path[0] == '/' ? "the host's tree has no such node"
	                                : "the host's tree has no such alias");
}

/* Whether a node that switches the machine off does so by registers of this device. */
static bool is_power_switch(const struct search *s)
{
	static const char *const switches[] = {"syscon-poweroff", "syscon-reboot"};
	uint32_t phandle = fdt_get_phandle(s->host, s->device->node);

	if (!phandle && fdt_first_subnode(s->host, s->device->node) < 0)
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(switches); i++) {
		int node = -1;

		while ((node = fdt_node_offset_by_compatible(s->host, node, switches[i])) >= 0) {
			int size;
			const fdt32_t *regmap = fdt_getprop(s->host, node, "regmap", &size);

			if ((regmap && size == 4 && phandle && fdt32_ld(regmap) == phandle) ||
			    fdt_parent_offset(s->host, node) == s->device->node)
				return true;
		}
	}
	return false;
}

static bool check_kind(const struct search *s)
{
	int node = s->device->node;

	if (node == 0)
		return refuse(s, "is the whole machine");
	if (host_tree_is_console(s->host, node))
		return refuse(s, "is Tally's console");
	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++) {
		const char *property = kept[i].property, *value = kept[i].value;

		if (value ? host_tree_says(s->host, node, property, value)
		          : fdt_getprop(s->host, node, property, NULL) != NULL)
			return refuse(s, kept[i].reason);
	}
	if (is_power_switch(s))
		return refuse(s, "switches the machine off");
	if (host_tree_is_disabled(s->host, node))
		return refuse(s, "is disabled in the host's tree");
	return true;
}

static bool check_dma(const struct search *s)
{
	const char *name = fdt_stringlist_get(s->host, s->device->node, "compatible", 0, NULL);

	if (s->device->dma != VM_DMA_NONE)
		return true;
	if (is(s, "virtio,mmio"))
		return vm_refuse(s->n, VM_REFUSED_DMA, "dma",
		                 "virtio,mmio has DMA: only \"trusted\" is true of it");
	for (unsigned int i = 0; i < ARRAY_SIZE(without_dma); i++) {
		if (is(s, without_dma[i]))
			return true;
	}
	if (s->device->dma_unchecked)
		return true;
	return vm_refuse(s->n, VM_REFUSED_DMA, "dma",
	                 "that %s has none is not known; dma-unchecked says that you know it",
	                 name ? name : "such a device");
}

static bool check_lives(const struct search *s)
{
	const struct vm_config *vm = s->n->vm;

	if (s->device->reset != VM_RESET_UNKNOWN ||
	    (vm->restart == VM_RESTART_NEVER && !vm->restart_limit))
		return true;
	return refuse(s, "Tally knows no reset of it: the VM has to have one life, by "
	                 "restart = \"never\" and restart-limit = <0>");
}

static bool refuse_region(const struct search *s, uint64_t base, const char *reason)
{
	return vm_refuse(s->n, VM_REFUSED_REGISTERS, "host", "its registers at 0x%lx %s", base,
	                 reason);
}

/* Adds whole pages, joined with the regions that they overlap. */
static bool add_region(struct search *s, uint64_t base, uint64_t size)
{
	struct vm_device *d = s->device;

	for (uint32_t i = 0; i < d->n_regions;) {
		uint64_t from = d->regions[i].base, to = from + d->regions[i].size;

		if (!vm_ranges_overlap(base, size, from, to - from)) {
			i++;
			continue;
		}
		to = to > base + size ? to : base + size;
		base = base < from ? base : from;
		size = to - base;
		d->regions[i] = d->regions[--d->n_regions];
		i = 0;
	}
	if (d->n_regions == VM_DEVICE_MAX_REGIONS)
		return vm_refuse(s->n, VM_REFUSED_TOO_MANY, "host",
		                 "has more than %u pieces of registers", VM_DEVICE_MAX_REGIONS);
	d->regions[d->n_regions].base = base;
	d->regions[d->n_regions++].size = size;
	return true;
}

/* Refuses registers at addresses where the guest has something else. */
static bool check_guest_space(const struct search *s, uint64_t base, uint64_t size)
{
	const struct vm_config *vm = s->n->vm;
	uint64_t chip;

	if (vm_covers_chip(vm, base, size, &chip))
		return refuse_region(s, base, "lie where the VM has its interrupt controller");
	if (vm->console && vm_ranges_overlap(base, size, GUEST_UART_BASE, PAGE))
		return refuse_region(s, base, "lie where the VM has its UART");
	if (vm_piece_at(vm, base, size).size)
		return refuse_region(s, base, "lie where the VM has its memory");
	return true;
}

/* Sets the members that the reset needs. Tally resets a UART by writes to registers of one byte. */
static void find_reset(struct search *s, uint64_t base, uint64_t size)
{
	uint32_t width = host_tree_u32(s->host, s->device->node, "reg-io-width", 1);
	uint32_t shift = host_tree_u32(s->host, s->device->node, "reg-shift", 0);

	s->device->registers = base;
	s->device->registers_size = size;
	for (unsigned int i = 0; i < ARRAY_SIZE(resets) && shift <= 2; i++) {
		bool narrow = width == 1 || resets[i].reset != VM_RESET_NS16550;

		if (is(s, resets[i].compatible) && narrow && size >= resets[i].bytes << shift) {
			s->device->reset = resets[i].reset;
			s->device->reg_shift = (uint8_t)shift;
			return;
		}
	}
}

static bool find_regions(struct search *s, const struct host_place *place)
{
	uint64_t base = 0, size = 0, pages;
	enum host_reg found;

	for (uint32_t i = 0; (found = host_tree_reg(place, i, &base, &size)) == HOST_REG_OK; i++) {
		if (i == VM_DEVICE_MAX_REGS)
			return vm_refuse(s->n, VM_REFUSED_TOO_MANY, "host",
			                 "has more than %u ranges of registers",
			                 VM_DEVICE_MAX_REGS);
		if (!size)
			return refuse_region(s, base, "have no size");
		if (size > GUEST_ADDRESS_END) /* otherwise the number of pages could wrap */
			return refuse_region(s, base, "are more than 1 GiB");
		if (!i)
			find_reset(s, base, size);
		pages = ((base % PAGE + (size - 1) % PAGE) / PAGE + (size - 1) / PAGE + 1) * PAGE;
		base -= base % PAGE;
		if (base >= GUEST_ADDRESS_END || pages > GUEST_ADDRESS_END - base)
			return refuse_region(s, base, "lie above all that a VM can address");
		if (pages > REGISTERS_MAX)
			return refuse_region(s, base, "are more than 1 GiB");
		if (!check_guest_space(s, base, pages) || !add_region(s, base, pages))
			return false;
	}
	if (found == HOST_REG_BROKEN)
		return refuse(s, "its registers contradict the buses above it");
	if (found == HOST_REG_ELSEWHERE)
		return refuse(s, "no hart can see its registers");
	return s->device->n_regions || refuse(s, "has no registers");
}

static bool add_irq(struct search *s, const struct host_chip *chip, const struct host_irq *irq)
{
	struct vm_device *d = s->device;
	uint32_t i = d->n_irqs;

	if (i == VM_DEVICE_MAX_IRQS)
		return vm_refuse(s->n, VM_REFUSED_TOO_MANY, "host", "has more than %u interrupts",
		                 VM_DEVICE_MAX_IRQS);
	for (uint32_t k = 0; k < i; k++) {
		if (d->irqs[k].source == irq->source)
			return vm_refuse(s->n, VM_REFUSED_INTERRUPT, "host",
			                 "has interrupt %u twice", irq->source);
	}
	d->irqs[i].source = irq->source;
	d->irqs[i].mode = VM_IRQ_UNKNOWN;
	if (irq->source > chip->sources)
		return vm_refuse(s->n, VM_REFUSED_INTERRUPT, "host",
		                 "interrupt %u is none: the harts' controller has %u", irq->source,
		                 chip->sources);
	if (!irq->source || irq->source > 1023)
		return vm_refuse(s->n, VM_REFUSED_INTERRUPT, "host", "interrupt %u is none",
		                 irq->source);
	for (uint32_t mode = VM_IRQ_RISING; chip->cells == 2 && mode <= VM_IRQ_LOW; mode++) {
		if (device_irq_types[mode] == irq->type)
			d->irqs[i].mode = (enum vm_irq_mode)mode;
	}
	if (chip->cells == 2 && d->irqs[i].mode == VM_IRQ_UNKNOWN)
		return vm_refuse(s->n, VM_REFUSED_INTERRUPT, "host",
		                 "interrupt %u has type %u, which is neither edge nor level",
		                 irq->source, irq->type);
	d->irqs[i].edge = d->irqs[i].mode == VM_IRQ_RISING || d->irqs[i].mode == VM_IRQ_FALLING;
	d->n_irqs++;
	return true;
}

static bool find_irqs(struct search *s, const struct host_place *place)
{
	struct host_chip chip = host_tree_chip(s->host);
	struct host_irq irq = {0};
	int found;

	if (!host_parents_have_irqs(s->n, place))
		return false;
	for (uint32_t i = 0; (found = host_tree_irq(place, &chip, i, &irq)) > 0; i++) {
		if (!add_irq(s, &chip, &irq))
			return false;
	}
	if (!found)
		return true;
	return vm_refuse(s->n, VM_REFUSED_INTERRUPT, "host",
	                 "has an interrupt that does not go to the harts' PLIC or APLIC");
}

static bool is_listed(const struct vm_limits *limits)
{
	return limits->claims && host_claims_make(limits->host_tree, limits->claims);
}

bool host_device_find(const struct vm_node *n, struct vm_device *device)
{
	const void *host = n->limits->host_tree;
	struct search s = {n, host, device};
	struct host_place place;

	if (!is_listed(n->limits) && !host_tree_is_flat(host))
		return vm_refuse(n, VM_REFUSED_DEVICE, "host",
		                 "the host's tree is nested deeper than %d nodes", HOST_TREE_DEPTH);
	if (!find_node(&s))
		return false;
	place = host_place_of(host, device->node);
	return check_kind(&s) && host_parents_check(n, &place, device->host) && check_dma(&s) &&
	       find_regions(&s, &place) && check_lives(&s) && find_irqs(&s, &place);
}

static bool is_of_vm(const struct vm_config *vm, int node)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].node == node)
			return true;
	}
	return false;
}

/* Whether the device shares a page with registers of a node, or with a window of it; *page is its
 * address. */
static bool shares_page(const struct vm_device *device, const struct host_place *place,
                        bool windows, uint64_t *page)
{
	uint64_t base = 0, size = 0;

	for (uint32_t i = 0;; i++) {
		enum host_reg found = windows ? host_tree_window(place, i, &base, &size)
		                              : host_tree_reg(place, i, &base, &size);

		if (found == HOST_REG_NONE || found == HOST_REG_BROKEN)
			return false;
		uint64_t from = base - base % PAGE;

		for (uint32_t k = 0; k < device->n_regions && size && found == HOST_REG_OK; k++) {
			if (!vm_ranges_overlap(from, base - from + size, device->regions[k].base,
			                       device->regions[k].size))
				continue;
			*page = from > device->regions[k].base ? from : device->regions[k].base;
			return true;
		}
	}
}

static bool check_apart(const struct vm_node *n, const struct host_place *place,
                        const struct host_chip *chip, const struct vm_device *device)
{
	int other = place->node[place->depth];
	char buffer[PATH_BYTES];
	uint64_t page;

	if (shares_page(device, place, false, &page) || shares_page(device, place, true, &page)) {
		const char *name = device_path(place->tree, other, buffer, sizeof(buffer));

		if (host_tree_says(place->tree, other, "device_type", "memory"))
			return vm_refuse(n, VM_REFUSED_REGISTERS, "host",
			                 "its registers at 0x%lx lie in the machine's memory",
			                 page);
		return vm_refuse(n, VM_REFUSED_REGISTERS, "host",
		                 "shares the page 0x%lx with %s, which is not this VM's", page,
		                 name);
	}
	for (uint32_t i = 0; i < device->n_irqs; i++) {
		if (host_tree_has_source(place, chip, device->irqs[i].source))
			return vm_refuse(n, VM_REFUSED_INTERRUPT, "host",
			                 "shares interrupt %u with %s, which is not this VM's",
			                 device->irqs[i].source,
			                 device_path(place->tree, other, buffer, sizeof(buffer)));
	}
	return true;
}

static bool is_claimed(const struct vm_device *device, const struct host_claim *claim)
{
	for (uint32_t i = 0; claim->to && i < device->n_regions; i++) {
		if (vm_ranges_overlap(claim->from, claim->to - claim->from, device->regions[i].base,
		                      device->regions[i].size))
			return true;
	}
	for (uint32_t i = 0; !claim->to && i < device->n_irqs; i++) {
		if (device->irqs[i].source == claim->source)
			return true;
	}
	return false;
}

bool host_device_check_unshared(const struct vm_node *n, const struct vm_device *device)
{
	const struct host_claims *claims = n->limits->claims;
	const void *host = n->limits->host_tree;
	struct host_place place = host_place_root(host);
	bool listed = is_listed(n->limits);
	struct host_chip chip;

	if (!listed)
		chip = host_tree_chip(host);
	while (!listed && host_place_next(&place)) {
		if (!is_of_vm(n->vm, place.node[place.depth]) &&
		    !check_apart(n, &place, &chip, device))
			return false;
	}
	for (uint32_t i = 0; listed && i < claims->n; i++) {
		if (!is_claimed(device, &claims->list[i]) || is_of_vm(n->vm, claims->list[i].node))
			continue;
		place = host_place_of(host, claims->list[i].node);
		chip = host_tree_chip(host);
		if (!check_apart(n, &place, &chip, device))
			return false;
	}
	return true;
}
