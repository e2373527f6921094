/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>
#include <string.h>

#include "core/tree/device_node.h"
#include "core/tree/vm_machine.h"
#include "core/tree/vm_names.h"

#define PATH_MAX_BYTES 127U /* of `host` */
#define NAME_MAX_BYTES 31U

enum {
	DEVICE_HOST,
	DEVICE_PCI,
	DEVICE_DMA,
	DEVICE_UNCHECKED,
	DEVICE_FORCE,
	DEVICE_NUMBERS,
	DEVICE_PROPS
};
static const char *const device_props[DEVICE_PROPS] = {
    "host", "pci", "dma", "dma-unchecked", "force", "interrupt-numbers"};

bool vm_is_devices(const struct vm_node *child)
{
	return strcmp(fdt_get_name(child->blob, child->at, NULL), "devices") == 0;
}

const struct vm_device *vm_device_without_reset(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].reset == VM_RESET_UNKNOWN)
			return &vm->devices[i];
	}
	return NULL;
}

uint32_t vm_device_pages(const struct vm_config *vm, struct vm_range pages[VM_MAX_DEVICE_PAGES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		const struct vm_device *d = &vm->devices[i];

		for (uint32_t k = 0; k < d->n_regions; k++) {
			struct vm_range range = {d->regions[k].base,
			                         d->regions[k].base + d->regions[k].size};

			vm_ranges_join(pages, &n, &range);
			pages[n++] = range;
		}
	}
	return n;
}

bool vm_has_trusted_dma(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].dma == VM_DMA_TRUSTED)
			return true;
	}
	return false;
}

static bool parse_dma(const struct vm_node *n, const struct vm_prop *props,
                      struct vm_device *device)
{
	static const char *const words[] = {
	    [VM_DMA_NONE] = "none",
	    [VM_DMA_ISOLATED] = "isolated",
	    [VM_DMA_TRUSTED] = "trusted",
	};
	const struct vm_prop *unchecked = &props[DEVICE_UNCHECKED];
	uint32_t dma = VM_DMA_NONE;

	if (!vm_require(n, &props[DEVICE_DMA]) ||
	    !vm_read_word(n, &props[DEVICE_DMA], words, 3, &dma))
		return false;
	device->dma = (enum vm_dma)dma;
	device->dma_unchecked = unchecked->data != NULL;
	if (unchecked->data && unchecked->size)
		return vm_refuse(n, VM_REFUSED_VALUE, unchecked->name,
		                 "is a flag, without a value");
	if (unchecked->data && dma != VM_DMA_NONE)
		return vm_refuse(n, VM_REFUSED_DMA, unchecked->name,
		                 "has no meaning but with dma = \"none\"");
	if (props[DEVICE_PCI].data)
		return true; /* see vm_function_parse() */
	if (dma == VM_DMA_ISOLATED)
		return vm_refuse(n, VM_REFUSED_DMA, "dma",
		                 "nothing translates this device's DMA: only PCI functions behind "
		                 "an IOMMU can be isolated");
	if (dma == VM_DMA_TRUSTED && !n->vm->n_pieces)
		return vm_refuse(n, VM_REFUSED_DMA, "dma",
		                 "\"trusted\" needs memory-at: the device takes the VM's addresses "
		                 "for the machine's");
	return true;
}

static bool is_same(const struct vm_device *a, const struct vm_device *b, bool resolved)
{
	if (a->pci.given || b->pci.given)
		return vm_function_is_same(a, b);
	return resolved ? a->node == b->node : strcmp(a->host, b->host) == 0;
}

/* No node of the host is given twice. */
static bool check_doubles(const struct vm_node *n, const struct vm_device *device)
{
	for (const struct vm_config *vm = n->tree->vms; vm <= n->vm; vm++) {
		for (uint32_t k = 0; k < vm->n_devices; k++) {
			if (is_same(&vm->devices[k], device, n->limits->host_tree))
				return vm_refuse(
				    n, VM_REFUSED_DUPLICATE, device->pci.given ? "pci" : "host",
				    "VM %s has it already, as %s", vm->name, vm->devices[k].name);
		}
	}
	return true;
}

/* Reads the device's identity: a node of the host's tree, or a PCI function. */
static bool parse_which(const struct vm_node *n, const struct vm_prop *props,
                        struct vm_device *device)
{
	const struct vm_prop *host = &props[DEVICE_HOST], *pci = &props[DEVICE_PCI];

	if (!pci->data && props[DEVICE_FORCE].data)
		return vm_refuse(n, VM_REFUSED_VALUE, "force",
		                 "has no meaning but for a PCI function, by pci");
	if (pci->data && props[DEVICE_NUMBERS].data)
		return vm_refuse(n, VM_REFUSED_VALUE, "interrupt-numbers",
		                 "has no meaning but for a node, by host");
	if (!vm_read_choice(n, &props[DEVICE_NUMBERS], "own", "host", &device->host_numbers))
		return false;
	if (!pci->data)
		return vm_require(n, host) &&
		       vm_read_string(n, host, PATH_MAX_BYTES, &device->host);
	if (host->data)
		return vm_refuse(n, VM_REFUSED_VALUE, "pci",
		                 "a device is a node, by host, or a PCI function, not both");
	return vm_function_parse(n, pci, &props[DEVICE_FORCE], device);
}

static bool parse_device(const struct vm_node *n)
{
	struct vm_device *device = &n->vm->devices[n->vm->n_devices];
	struct vm_prop props[DEVICE_PROPS];

	if (!vm_has_room(n, "device", n->vm->n_devices, VM_MAX_DEVICES))
		return false;
	device->name = fdt_get_name(n->blob, n->at, NULL);
	device->node = -1;
	if (!vm_check_name(n, "a device", NAME_MAX_BYTES) ||
	    !vm_read_props(n, device_props, DEVICE_PROPS, props) || !vm_refuse_children(n) ||
	    !parse_dma(n, props, device) || !parse_which(n, props, device) ||
	    (n->limits->host_tree && !device->pci.given && !host_device_find(n, device)) ||
	    !check_doubles(n, device))
		return false;
	n->vm->n_devices++;
	return true;
}

uint32_t vm_known_irq(const struct vm_config *vm, uint32_t source)
{
	for (const struct vm_device *d = vm->devices; d < vm->devices + vm->n_devices; d++) {
		for (uint32_t i = 0; i < d->n_irqs; i++) {
			if (d->irqs[i].source == source && d->irqs[i].guest)
				return d->irqs[i].guest;
		}
	}
	return 0;
}

const struct vm_device *vm_device_of_irq(const struct vm_config *vm, uint32_t number)
{
	for (const struct vm_device *d = vm->devices; d < vm->devices + vm->n_devices; d++) {
		for (uint32_t i = 0; i < d->n_irqs; i++) {
			if (d->irqs[i].guest == number)
				return d;
		}
	}
	return NULL;
}

bool vm_has_irq(const struct vm_config *vm, uint32_t number)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell == number)
			return true;
	}
	for (uint32_t i = 0; i < vm->n_ports; i++) {
		if (vm->ports[i].source == number)
			return true;
	}
	return number == GUEST_UART_IRQ || number == vm->rtc_source || number == vm->key_source ||
	       number == vm->operator.source || vm_device_of_irq(vm, number);
}

uint32_t vm_free_irq(const struct vm_config *vm)
{
	uint32_t number = vm->virt ? GUEST_RTC_IRQ + 1 : 1;

	while (vm_has_irq(vm, number))
		number++;
	return number;
}

/* Returns the source for interrupt i of a device that does not keep the host's numbers. */
static uint32_t own_number(const struct vm_config *vm, const struct vm_device *device, uint32_t i)
{
	uint32_t number = i ? 0 : vm_machine_irq(vm, device->regions[0].base);

	return number && !vm_has_irq(vm, number) ? number : vm_free_irq(vm);
}

/* Uses the host's number, if the tree asks for it. */
static bool keep_number(const struct vm_node *n, uint32_t source)
{
	if (source > GUEST_PLIC_SOURCES)
		return vm_refuse(n, VM_REFUSED_INTERRUPT, "interrupt-numbers",
		                 "interrupt %u of the host is above %u, the last of a VM", source,
		                 GUEST_PLIC_SOURCES);
	return source != GUEST_UART_IRQ ||
	       vm_refuse(n, VM_REFUSED_INTERRUPT, "interrupt-numbers",
	                 "interrupt %u of the host has the number of the VM's UART", source);
}

/* Chooses sources of the VM's PLIC: the host's numbers, or free ones. */
static bool number_irqs(const struct vm_node *n, struct vm_device *device)
{
	uint32_t next;

	for (uint32_t i = 0; i < device->n_irqs; i++) {
		device->irqs[i].guest = vm_known_irq(n->vm, device->irqs[i].source);
		if (device->irqs[i].guest)
			continue;
		if (device->host_numbers) {
			next = device->irqs[i].source;
			if (!keep_number(n, next))
				return false;
		} else {
			next = own_number(n->vm, device, i);
		}
		if (next > GUEST_PLIC_SOURCES)
			return vm_refuse(n, VM_REFUSED_TOO_MANY, "host",
			                 "the VM's devices have more than %u interrupts together",
			                 GUEST_PLIC_SOURCES - 1);
		if (n->tree->n_irqs == VM_MAX_ALL_IRQS)
			return vm_refuse(
			    n, VM_REFUSED_TOO_MANY, "host",
			    "the devices of all VMs have more than %u interrupts together",
			    VM_MAX_ALL_IRQS);
		n->tree->n_irqs++;
		device->irqs[i].guest = next;
	}
	return true;
}

/* Devices that keep the host's numbers get them first, whatever their order. */
static bool number_kept(const struct vm_node *devices)
{
	struct vm_device *device = devices->vm->devices;
	struct vm_node n = vm_node_at(devices, -1);

	fdt_for_each_subnode(n.at, n.blob, devices->at)
	{
		if (device->host_numbers && !number_irqs(&n, device))
			return false;
		device++;
	}
	return true;
}

static bool check_device(const struct vm_node *n, struct vm_device *device, uint32_t *bytes)
{
	if (device->pci.given)
		return vm_function_check(n, device);
	if (!n->limits->host_tree)
		return true;
	if (!host_device_check_unshared(n, device) || !number_irqs(n, device) ||
	    !device_node_check(n, device, bytes))
		return false;
	return *bytes <= DEVICE_NODES_BYTES ||
	       vm_refuse(n, VM_REFUSED_TOO_MANY, "host",
	                 "the nodes of the devices up to this one take more than %u bytes of the "
	                 "VM's device tree",
	                 DEVICE_NODES_BYTES);
}

/* Reads all devices, and then checks what needs all of them. */
static bool parse_all(const struct vm_node *devices)
{
	struct vm_node n = vm_node_at(devices, -1);
	uint32_t i = 0, bytes = 0;

	if (!vm_parse_children(devices, parse_device) || !number_kept(devices))
		return false;
	fdt_for_each_subnode(n.at, n.blob, devices->at)
	{
		if (!check_device(&n, &n.vm->devices[i++], &bytes))
			return false;
	}
	return true;
}

bool vm_parse_devices(const struct vm_node *n)
{
	struct vm_node child = vm_node_at(n, -1), devices = vm_node_at(n, -1);

	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (!vm_is_devices(&child))
			continue;
		if (devices.at >= 0)
			return vm_refuse(&child, VM_REFUSED_DUPLICATE, "", "is there twice");
		devices.at = child.at;
	}
	return devices.at < 0 || parse_all(&devices);
}
