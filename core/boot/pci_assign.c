/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include <libfdt.h>

#include "arch/riscv/devices/pci_reset.h"
#include "arch/riscv/hart/csr.h"
#include "core/boot/hs_memory.h"
#include "core/boot/pci_place.h"
#include "core/hart/platform.h"
#include "core/host/pci_acts.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/lib/text.h"
#include "core/log.h"
#include "core/tree/vm_memory.h"
#include "core/vcpu/vm.h"

#define CLASS_HOST_BRIDGE 0x0600U
#define CLASS_IOMMU       0x0806U
#define RESET_MS          1000U
#define LEVEL_HIGH        4U
#define NAMES_BYTES       64U
#define REASON_BYTES      152U

/* A function of the host's bus. */
struct found {
	uint16_t bdf, class;
	uint32_t id; /* vendor << 16 | device, as the VM tree has it */
	bool bridge;
};

static struct found found[PCI_FUNCTIONS];
static uint32_t n_found;

/* The state of the search for functions. */
struct search {
	struct vm_tree *tree;
	struct pci_room room;
	struct vm_config *vm;
	struct vm_device *device;
	void (*tell)(const char *line);
	bool refused;
};

#define BDF_FORMAT   "%02x:%02x.%x"
#define BDF_PARTS(n) (n) >> 8, (n) >> 3 & 31, (n)&7

static bool refuse(struct search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(struct search *s, const char *format, ...)
{
	char line[VM_REFUSAL_TEXT];
	struct text text = text_begin(line, sizeof(line));
	va_list args;

	text_add(&text, "/vms/%s/devices/%s: pci: ", s->vm->name, s->device->name);
	va_start(args, format);
	text_vadd(&text, format, args);
	va_end(args);
	s->tell(line);
	s->refused = true;
	return false;
}

static uint64_t page_of(const struct search *s, uint32_t bdf)
{
	return s->room.bridge.ecam + (bdf & (PCI_FUNCTIONS - 1)) * PCI_PAGE;
}

static void scan(struct search *s)
{
	uint32_t first = s->room.bridge.bus << 8;

	n_found = 0;
	for (uint32_t n = 0; n < PCI_FUNCTIONS; n++) {
		struct pci_function f;

		/* A device without function 0 has no functions. */
		if (n % 8 && (!n_found || found[n_found - 1].bdf / 8 != (first + n) / 8))
			continue;
		if (!pci_find(&f, page_of(s, n), first + n))
			continue;
		found[n_found++] = (struct found){
		    .bdf = (uint16_t)f.bdf,
		    .class = (uint16_t)(f.class >> 8),
		    .id = f.id << 16 | f.id >> 16,
		    .bridge = f.header != 0,
		};
		if (n % 8 == 0 && !f.multi)
			n += 7;
	}
}

/* Finds the function that a device names. */
static const struct found *match(struct search *s)
{
	const struct vm_pci *pci = &s->device->pci;
	const struct found *first = NULL;
	char names[NAMES_BYTES];
	struct text text = text_begin(names, sizeof(names));
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_found; i++) {
		if ((pci->by_id ? found[i].id : found[i].bdf) != pci->name)
			continue;
		text_add(&text, "%s" BDF_FORMAT, n++ ? " and " : "", BDF_PARTS(found[i].bdf));
		first = first ? first : &found[i];
	}
	if (n == 1)
		return first;
	if (n)
		refuse(s, "%s is the vendor and device of %s: name it by one of these",
		       s->device->host, names);
	else
		refuse(s, "there is no function %s on the host's bus", s->device->host);
	return NULL;
}

/* Refuses a function if another VM has one of the same device: they may not be isolated from each
 * other. */
static bool check_neighbours(struct search *s, uint32_t bdf)
{
	bool whole = bdf % 8 == 0;

	for (uint32_t i = 0; i < n_functions; i++) {
		const struct function *f = &functions[i];
		const struct vm_config *vm = f->vm->config;

		if (f->pci.bdf == bdf)
			return refuse(s, "VM %s has " BDF_FORMAT " already, as %s", vm->name,
			              BDF_PARTS(bdf), f->device->name);
		if (f->pci.bdf / 8 == bdf / 8 && vm != s->vm)
			return refuse(s,
			              BDF_FORMAT " is a function of the same device as " BDF_FORMAT
			                         ", which VM %s has: nothing keeps the two apart",
			              BDF_PARTS(bdf), BDF_PARTS(f->pci.bdf), vm->name);
		whole |= vm == s->vm && f->pci.bdf == (bdf & ~7U);
	}
	/* Without a second refusal if function 0 was itself refused. */
	if (whole || s->refused)
		return whole;
	return refuse(s,
	              BDF_FORMAT " is found by a guest that has " BDF_FORMAT
	                         " too, which has to come before it",
	              BDF_PARTS(bdf), BDF_PARTS(bdf & ~7U));
}

static bool check_kind(struct search *s, const struct found *it)
{
	char reason[REASON_BYTES];

	if (it->class == CLASS_IOMMU)
		return refuse(s, BDF_FORMAT " is an IOMMU", BDF_PARTS(it->bdf));
	if (it->class == CLASS_HOST_BRIDGE)
		return refuse(s, BDF_FORMAT " is the host bridge", BDF_PARTS(it->bdf));
	if (it->bridge)
		return refuse(s, BDF_FORMAT " is a bridge", BDF_PARTS(it->bdf));
	if (!pci_acts_allowed(it->id, it->class, &s->device->pci, reason, sizeof(reason)))
		return refuse(s, "%s", reason);
	return check_neighbours(s, it->bdf);
}

static bool check_bars(struct search *s, const struct pci_function *f)
{
	bool ports = false;

	for (uint32_t n = 0; n < PCI_BARS; n++) {
		if (f->bars[n].size && !(f->bars[n].flags & PCI_BAR_IO))
			return true;
		ports |= f->bars[n].size;
	}
	if (ports)
		return refuse(s, "its registers are in I/O space only, which VMs do not have");
	return refuse(s, "it has no registers");
}

/* Waits for the reset of a function, which boot has time for. */
static bool reset(const struct pci_function *f)
{
	uint64_t ms = platform.timebase / 1000, begun, waited;

	pci_reset_begin(f);
	begun = csr_read(CSR_TIME);
	do { /* WAITS */
		waited = csr_read(CSR_TIME) - begun;
		if (waited >= ms * PCI_FLR_MS || f->reset == PCI_RESET_VIRTIO) {
			if (pci_reset_done(f))
				return true;
		}
	} while (waited < ms * RESET_MS);
	return false;
}

static bool try_it(struct search *s, const struct pci_function *f)
{
	pci_set_up(f, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE);
	if ((f->id & 0xffff) == PCI_VENDOR_VIRTIO && !pci_virtio_is_translated(f))
		return refuse(s, "it does not offer VIRTIO_F_ACCESS_PLATFORM: its DMA would go "
		                 "past the IOMMU");
	if (f->reset != PCI_RESET_NONE && !reset(f))
		return refuse(s, "it does not come to rest after a reset");
	pci_set_up(f, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE);
	if (f->reset != PCI_RESET_NONE ||
	    (s->vm->restart == VM_RESTART_NEVER && !s->vm->restart_limit))
		return true;
	return refuse(s, "Tally knows no reset of it: the VM has to have one life, by restart = "
	                 "\"never\" and restart-limit = <0>");
}

/* Returns the other owner of the interrupt source, or NULL. */
static const char *find_owner(const struct search *s, const struct host_chip *chip, uint32_t source,
                              char *name, size_t size)
{
	struct host_place place = host_place_root(platform.host_tree);
	struct text text = text_begin(name, size);

	for (uint32_t i = 0; i < n_functions; i++) {
		const struct function *f = &functions[i];

		if (f->vm->config == s->vm || !f->device->pci.pin ||
		    f->device->irqs[0].source != source)
			continue;
		text_add(&text, "%s of VM %s", f->device->name, f->vm->config->name);
		return name;
	}
	while (host_place_next(&place)) {
		if (place.node[place.depth] ==
		        s->room.bridge.place.node[s->room.bridge.place.depth] ||
		    !host_tree_has_source(&place, chip, source))
			continue;
		text_add(&text, "%s", fdt_get_name(place.tree, place.node[place.depth], NULL));
		return name;
	}
	return NULL;
}

/* Returns the VM's number of an interrupt: that of the same line, or a new one; 0 if none is
 * left. */
static uint32_t number_of(struct search *s, uint32_t source)
{
	uint32_t next = vm_known_irq(s->vm, source);

	if (next)
		return next;
	next = vm_free_irq(s->vm);
	if (next > GUEST_PLIC_SOURCES || s->tree->n_irqs == VM_MAX_ALL_IRQS)
		return 0;
	s->tree->n_irqs++;
	return next;
}

static bool add_interrupt(struct search *s, const struct pci_function *f)
{
	struct host_chip chip = host_tree_chip(platform.host_tree);
	struct vm_device *device = s->device;
	struct host_irq irq;
	char name[NAMES_BYTES];
	const char *other;
	uint32_t number;

	if (!f->pin || f->pin > 4)
		return true;
	if (!host_bridge_irq(&s->room.bridge, &chip, f->bdf, f->pin, &irq) || !irq.source ||
	    irq.source > IRQCHIP_SOURCES)
		return refuse(s, "its interrupt does not go to the harts' PLIC or APLIC");
	other = find_owner(s, &chip, irq.source, name, sizeof(name));
	if (other && f->msix && functions_have_messages(s->vm))
		return true; /* it has MSIs, and its INTx stays disabled */
	if (other)
		return refuse(s, "shares interrupt %u with %s, which is not this VM's", irq.source,
		              other);
	number = number_of(s, irq.source);
	if (!number)
		return refuse(s, "the devices of the VM, or of all, have too many interrupts");
	device->pci.pin = f->pin;
	device->n_irqs = 1;
	device->irqs[0].source = irq.source;
	device->irqs[0].mode =
	    chip.cells == 2 && irq.type == LEVEL_HIGH ? VM_IRQ_HIGH : VM_IRQ_UNKNOWN;
	device->irqs[0].guest = number;
	return true;
}

/* Whether Tally drives the IOMMU of that node; it drives only one. */
static bool is_driven(int node)
{
	uint64_t base, size;

	return host_tree_registers(platform.host_tree, node, &base, &size) &&
	       base == platform.iommu.base;
}

static bool assign(struct search *s)
{
	struct function *function = &functions[n_functions];
	struct pci_function *f = &function->pci;
	const struct found *it = match(s);
	const char *why = dma_refusal();
	uint32_t bar;
	int iommu;

	if (!it || !check_kind(s, it))
		return false;
	if (why)
		return refuse(s, "%s", why);
	if (!pci_find(f, page_of(s, it->bdf), it->bdf))
		return refuse(s, "it has gone");
	pci_read_function(f);
	if (!check_bars(s, f))
		return false;
	if (!pci_place(&s->room, f, s->vm, s->device, &bar))
		return refuse(s, "there is no room for its BAR %u of %lu KiB", bar,
		              f->bars[bar].size >> 10);
	if (!try_it(s, f) || !add_interrupt(s, f))
		return false;
	if (!host_bridge_device_id(&s->room.bridge, f->bdf, &function->device_id, &iommu) ||
	    !is_driven(iommu))
		return refuse(s, "the host's tree has no IOMMU for it: nothing would keep its DMA "
		                 "in the VM's memory");
	function->vm = &vms[s->vm - s->tree->vms];
	function->vm->config = s->vm;
	function->device = s->device;
	s->device->pci.bdf = f->bdf;
	s->device->pci.number = n_functions++;
	s->device->reset = f->reset == PCI_RESET_NONE ? VM_RESET_UNKNOWN : VM_RESET_PCI;
	return true;
}

static void assign_all(void *search)
{
	struct search *s = search;

	scan(s);
	for (uint32_t i = 0; i < s->tree->n_vms; i++) {
		s->vm = &s->tree->vms[i];
		for (uint32_t k = 0; k < s->vm->n_devices; k++) {
			s->device = &s->vm->devices[k];
			/* An IOMMU that does not work is reported once. */
			if (s->device->pci.given && !assign(s) && dma_refusal())
				return;
		}
	}
}

static void map(const struct function *f)
{
	uint64_t at, size;

	hs_memory_add_pages(f->pci.page, PCI_PAGE, f->device->name);
	for (uint32_t n = 0; pci_reset_range(&f->pci, n, &at, &size); n++) {
		if (at)
			hs_memory_add_pages(at, size, f->device->name);
	}
}

static bool is_asked(const struct vm_tree *tree)
{
	bool asked = false;

	for (uint32_t i = 0; i < tree->n_vms; i++)
		asked |= vm_guard(&tree->vms[i]) != 0;
	return asked;
}

bool pci_assign(struct vm_tree *tree, void (*tell)(const char *line))
{
	struct host_bridge bridge;
	struct search s = {.tree = tree, .tell = tell};

	/* The bus is read only if needed: on a board it may be asleep, and fault. Without a bridge
	 * the parser has refused all functions. */
	if (!is_asked(tree) || !platform.host_tree || host_bridge_find(platform.host_tree, &bridge))
		return true;
	pci_room_init(&s.room, &bridge);
	hs_memory_call_unmapped(assign_all, &s);
	for (uint32_t i = 0; i < n_functions && !s.refused; i++)
		map(&functions[i]);
	return !s.refused;
}
