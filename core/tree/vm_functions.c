/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include "core/host/host_bridge.h"
#include "core/host/pci_acts.h"
#include "core/tree/vm_memory.h"

#define NAME_BYTES 15U

/* Reads n hexadecimal digits. */
static bool read_hex(const char **text, unsigned int n, uint32_t *value)
{
	*value = 0;
	for (; n; n--, ++*text) {
		char c = **text;
		char digit = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uint32_t)(c - '0');
		else if (digit >= 'a' && digit <= 'f')
			*value = *value << 4 | (uint32_t)(digit - 'a' + 10);
		else
			return false;
	}
	return true;
}

static bool read_name(const char *text, struct vm_pci *pci)
{
	uint32_t first, second, function;
	const char *at = text;

	pci->by_id = read_hex(&at, 4, &first) && *at++ == ':' && read_hex(&at, 4, &second) && !*at;
	if (pci->by_id) {
		pci->name = first << 16 | second;
		return true;
	}
	at = text;
	if (!read_hex(&at, 2, &first) || *at++ != ':' || !read_hex(&at, 2, &second) ||
	    *at++ != '.' || !read_hex(&at, 1, &function) || *at || second > 31 || function > 7)
		return false;
	pci->name = first << 8 | second << 3 | function;
	return true;
}

static bool parse_dma(const struct vm_node *n, const struct vm_device *device)
{
	if (device->dma == VM_DMA_NONE)
		return vm_refuse(n, VM_REFUSED_DMA, "dma",
		                 "a PCI function can master the bus: only \"isolated\" keeps it in "
		                 "the VM's memory");
	return device->dma != VM_DMA_TRUSTED ||
	       vm_refuse(n, VM_REFUSED_DMA, "dma",
	                 "a PCI function is given behind an IOMMU only: it is \"isolated\"");
}

static bool parse_force(const struct vm_node *n, const struct vm_prop *force, struct vm_pci *pci)
{
	static const char *const words[] = {PCI_ACTS_CONSENT};
	uint32_t which;

	pci->forced = force->data != NULL;
	return vm_read_word(n, force, words, 1, &which);
}

/* A function named by its place has no known id here, so boot checks it. */
static bool check_acts(const struct vm_node *n, const struct vm_pci *pci)
{
	char reason[sizeof(n->why->reason)];

	return !pci->by_id ||
	       pci_acts_allowed(pci->name, PCI_CLASS_UNKNOWN, pci, reason, sizeof(reason)) ||
	       vm_refuse(n, VM_REFUSED_PCI, "pci", "%s", reason);
}

bool vm_function_parse(const struct vm_node *n, const struct vm_prop *pci,
                       const struct vm_prop *force, struct vm_device *device)
{
	if (!vm_read_string(n, pci, NAME_BYTES, &device->host))
		return false;
	device->pci.given = true;
	if (!read_name(device->host, &device->pci))
		return vm_refuse(n, VM_REFUSED_VALUE, "pci",
		                 "is not \"BB:DD.F\", bus, device and function, nor \"VVVV:DDDD\", "
		                 "vendor and device, in hexadecimal");
	if (n->tree->n_functions == VM_MAX_FUNCTIONS)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, "pci",
		                 "the VMs have more than %u PCI functions together",
		                 VM_MAX_FUNCTIONS);
	n->tree->n_functions++;
	return parse_dma(n, device) && parse_force(n, force, &device->pci) &&
	       check_acts(n, &device->pci);
}

bool vm_function_is_same(const struct vm_device *a, const struct vm_device *b)
{
	return a->pci.given && b->pci.given && a->pci.by_id == b->pci.by_id &&
	       a->pci.name == b->pci.name;
}

static bool check_bridge(const struct vm_node *n, const struct vm_device *device)
{
	const void *host = n->limits->host_tree;
	struct host_bridge bridge;
	const char *why = host_bridge_find(host, &bridge);
	uint32_t bdf = device->pci.by_id ? bridge.bus << 8 : device->pci.name, id;
	int iommu;

	if (why)
		return vm_refuse(n, VM_REFUSED_PCI, "pci", "%s", why);
	if (bdf >> 8 != bridge.bus)
		return vm_refuse(n, VM_REFUSED_PCI, "pci",
		                 "is not on bus %02x: functions behind a bridge cannot be had",
		                 bridge.bus);
	if (!host_bridge_device_id(&bridge, bdf, &id, &iommu))
		return vm_refuse(n, VM_REFUSED_PCI, "pci",
		                 "the host's tree has no IOMMU for it: nothing would keep its DMA "
		                 "in the VM's memory");
	return host_tree_says(host, iommu, "compatible", "riscv,iommu") ||
	       vm_refuse(n, VM_REFUSED_PCI, "pci",
	                 "the IOMMU of the host's tree is none that Tally drives: it is not "
	                 "riscv,iommu");
}

/* Configuration space has an address of its own in each VM. */
static bool check_space(const struct vm_node *n)
{
	const struct vm_device *device;
	uint64_t at;

	if (vm_piece_at(n->vm, GUEST_ECAM_BASE, GUEST_ECAM_SIZE).size)
		return vm_refuse(n, VM_REFUSED_PCI, "pci",
		                 "the VM has memory where its PCI bus would be");
	device = vm_device_at(n->vm, GUEST_ECAM_BASE, GUEST_ECAM_SIZE, &at);
	return !device ||
	       vm_refuse(n, VM_REFUSED_PCI, "pci",
	                 "the VM has registers of %s where its PCI bus would be", device->name);
}

bool vm_function_check(const struct vm_node *n, const struct vm_device *device)
{
	return (!n->limits->host_tree || check_bridge(n, device)) && check_space(n);
}
