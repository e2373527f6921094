/* SPDX-License-Identifier: Apache-2.0 */
/* PCI Local Bus Specification 3.0, chapter 6; PCI Express Base Specification 5.0, 7.2 and 7.5;
 * Virtio 1.2, 4.1. */
#include "arch/riscv/devices/pci.h"

#include "arch/riscv/hart/fence.h"

#define BAR_IO_MASK     0x3U
#define BAR_MEMORY_MASK 0xfU
#define BAR_TYPE_MASK   0x6U
#define EXPRESS_CAN     4U /* offset of the device capabilities */
#define EXPRESS_FLR     0x10000000U
#define AF_CAN          3U
#define AF_FLR          0x2U

bool pci_find(struct pci_function *f, uint64_t page, uint32_t bdf)
{
	uint32_t id = pci_read32(page, PCI_ID);

	if (id == PCI_NOBODY || !id)
		return false;
	*f = (struct pci_function){
	    .page = page,
	    .bdf = bdf,
	    .id = id,
	    .class = pci_read32(page, PCI_CLASS) >> 8,
	    .header = pci_read8(page, PCI_HEADER) & ~PCI_HEADER_MULTI,
	    .multi = pci_read8(page, PCI_HEADER) & PCI_HEADER_MULTI,
	    .pin = pci_read8(page, PCI_PIN),
	};
	/* A host bridge stays on: it is the host's path to the bus. */
	if (f->class >> 8 != 0x0600)
		pci_write16(page, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
	return true;
}

/* Returns the index of the next BAR. */
static uint32_t size_bar(struct pci_function *f, uint32_t n)
{
	uint32_t at = PCI_BAR + 4 * n, mask;
	struct pci_bar *bar = &f->bars[n];
	uint64_t size;

	pci_write32(f->page, at, ~0U);
	mask = pci_read32(f->page, at);
	pci_write32(f->page, at, 0);
	if (!mask)
		return n + 1;
	if (mask & PCI_BAR_IO) {
		bar->flags = PCI_BAR_IO;
		mask &= ~BAR_IO_MASK;
		bar->size = mask & -mask;
		return n + 1;
	}
	bar->flags = mask & BAR_MEMORY_MASK;
	size = mask & ~BAR_MEMORY_MASK;
	if ((bar->flags & BAR_TYPE_MASK) != PCI_BAR_WIDE || n + 1 == PCI_BARS) {
		bar->size = size & -size;
		return n + 1;
	}
	pci_write32(f->page, at + 4, ~0U);
	size |= (uint64_t)pci_read32(f->page, at + 4) << 32;
	pci_write32(f->page, at + 4, 0);
	bar->size = size & -size;
	return n + 2;
}

static void look_at_virtio(struct pci_function *f, uint32_t at)
{
	if (f->virtio || (f->id & 0xffff) != PCI_VENDOR_VIRTIO ||
	    pci_read8(f->page, at + 3) != VIRTIO_CAP_COMMON)
		return;
	f->common_bar = pci_read8(f->page, at + 4);
	f->common_offset = pci_read32(f->page, at + 8);
	f->virtio = f->common_offset % 4 == 0;
}

static void look_at_msix(struct pci_function *f, uint32_t at)
{
	uint32_t table = pci_read32(f->page, at + 4);

	f->msix = at;
	f->msix_vectors = (pci_read16(f->page, at + PCI_MSIX_CONTROL) & 0x7ffU) + 1;
	f->msix_bar = table & 7;
	f->msix_offset = table & ~7U;
}

static void look_at(struct pci_function *f, uint32_t id, uint32_t at)
{
	switch (id) {
	case PCI_CAP_VENDOR:
		look_at_virtio(f, at);
		break;
	case PCI_CAP_MSI:
		f->msi = at;
		break;
	case PCI_CAP_MSIX:
		look_at_msix(f, at);
		break;
	case PCI_CAP_EXPRESS:
		if (pci_read32(f->page, at + EXPRESS_CAN) & EXPRESS_FLR) {
			f->reset = PCI_RESET_EXPRESS;
			f->reset_cap = at;
		}
		break;
	case PCI_CAP_AF:
		if (pci_read8(f->page, at + AF_CAN) & AF_FLR && f->reset == PCI_RESET_NONE) {
			f->reset = PCI_RESET_AF;
			f->reset_cap = at;
		}
		break;
	default:
		break;
	}
}

static void find_caps(struct pci_function *f)
{
	uint32_t at;

	if (!(pci_read16(f->page, PCI_STATUS) & PCI_STATUS_CAPABILITIES))
		return;
	at = pci_read8(f->page, PCI_CAPABILITIES) & ~3U;
	while (at >= PCI_FIRST_CAP && f->n_caps < PCI_CAPS) {
		uint8_t id = pci_read8(f->page, at);

		for (uint32_t i = 0; i < f->n_caps; i++) {
			if (f->caps[i].at == at)
				return;
		}
		f->caps[f->n_caps].id = id;
		f->caps[f->n_caps++].at = (uint8_t)at;
		look_at(f, id, at);
		at = pci_read8(f->page, at + 1) & ~3U;
	}
}

void pci_read_function(struct pci_function *f)
{
	for (uint32_t n = 0; n < PCI_BARS && !f->header;)
		n = size_bar(f, n);
	if (!f->header)
		pci_write32(f->page, 0x30, 0); /* turns off its ROM */
	find_caps(f);
	/* This reset takes no time, and is tested at boot. */
	if (f->virtio)
		f->reset = PCI_RESET_VIRTIO;
}

uint16_t pci_intx(const struct pci_function *f)
{
	return pci_read16(f->page, PCI_COMMAND) & PCI_COMMAND_INTX_DISABLE;
}

void pci_set_up(const struct pci_function *f, uint16_t command)
{
	pci_write16(f->page, PCI_COMMAND, pci_intx(f));
	for (uint32_t n = 0; n < PCI_BARS; n++) {
		const struct pci_bar *bar = &f->bars[n];

		if (!bar->size || bar->flags & PCI_BAR_IO)
			continue;
		pci_write32(f->page, PCI_BAR + 4 * n, (uint32_t)bar->value);
		if (bar->flags & PCI_BAR_WIDE && n + 1 < PCI_BARS)
			pci_write32(f->page, PCI_BAR + 4 * n + 4, (uint32_t)(bar->value >> 32));
	}
	if (f->msi)
		pci_write16(f->page, f->msi + PCI_MSI_CONTROL, 0);
	if (f->msix)
		pci_write16(f->page, f->msix + PCI_MSIX_CONTROL, 0);
	pci_write16(f->page, PCI_COMMAND, command);
	fence_devices(); /* the new BARs are effective */
}

uint64_t pci_bar_address(const struct pci_function *f, uint32_t bar, uint64_t offset, uint64_t size)
{
	const struct pci_bar *b = &f->bars[bar];

	if (bar >= PCI_BARS || !b->size || b->flags & PCI_BAR_IO || offset > b->size ||
	    size > b->size - offset)
		return 0;
	return b->at + offset;
}
