/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/pci_reset.h"

#include "arch/riscv/hart/fence.h"

#define EXPRESS_CONTROL 8U
#define EXPRESS_STATUS  10U
#define EXPRESS_RESET   0x8000U /* in EXPRESS_CONTROL */
#define EXPRESS_PENDING 0x0020U /* in EXPRESS_STATUS */
#define AF_CONTROL      4U
#define AF_STATUS       5U
#define AF_RESET        1U
#define AF_PENDING      1U

/* Virtio's common configuration (1.2, 4.1.4.3). */
#define COMMON_SIZE     56U
#define FEATURE_SELECT  0U
#define FEATURES        4U
#define STATUS          20U
#define ACCESS_PLATFORM 33U

#define MSIX_ENTRY  16U
#define MSIX_MASKED 1U

static uint64_t common(const struct pci_function *f)
{
	return pci_bar_address(f, f->common_bar, f->common_offset, COMMON_SIZE);
}

static uint64_t msix_table(const struct pci_function *f)
{
	return f->msix ? pci_bar_address(f, f->msix_bar, f->msix_offset,
	                                 (uint64_t)MSIX_ENTRY * f->msix_vectors)
	               : 0;
}

void pci_disable_master(const struct pci_function *f)
{
	/* The function's pages were mapped after this hart had begun to use the map of HS. */
	sfence_vma_all();
	pci_write16(f->page, PCI_COMMAND, PCI_COMMAND_MEMORY | pci_intx(f));
	(void)pci_read16(f->page, PCI_COMMAND);
	fence_devices(); /* docs/memory-order.md, "Rest" */
}

bool pci_is_busy(const struct pci_function *f)
{
	for (uint32_t i = 0; i < f->n_caps; i++) {
		if (f->caps[i].id == PCI_CAP_EXPRESS &&
		    pci_read16(f->page, f->caps[i].at + EXPRESS_STATUS) & EXPRESS_PENDING)
			return true;
		if (f->caps[i].id == PCI_CAP_AF &&
		    pci_read8(f->page, f->caps[i].at + AF_STATUS) & AF_PENDING)
			return true;
	}
	return false;
}

void pci_reset_begin(const struct pci_function *f)
{
	uint32_t at = f->reset_cap;

	switch (f->reset) {
	case PCI_RESET_VIRTIO:
		pci_write8(common(f), STATUS, 0);
		break;
	case PCI_RESET_EXPRESS:
		pci_write16(f->page, at + EXPRESS_CONTROL,
		            pci_read16(f->page, at + EXPRESS_CONTROL) | EXPRESS_RESET);
		break;
	case PCI_RESET_AF:
		pci_write16(f->page, at + AF_CONTROL, AF_RESET);
		break;
	case PCI_RESET_NONE:
		break;
	}
	fence_devices(); /* the caller checks the time or the status next */
}

bool pci_reset_done(const struct pci_function *f)
{
	if (f->reset == PCI_RESET_VIRTIO)
		return pci_read8(common(f), STATUS) == 0;
	return f->reset != PCI_RESET_NONE && pci_read32(f->page, PCI_ID) == f->id;
}

bool pci_clear_msix(const struct pci_function *f, uint32_t *next)
{
	uint64_t table = msix_table(f);

	for (uint32_t n = 0; table && n < PCI_MSIX_STEP && *next < f->msix_vectors; n++) {
		uint32_t at = MSIX_ENTRY * (*next)++;

		pci_write32(table, at + 12, MSIX_MASKED);
		for (uint32_t word = 0; word < 12; word += 4)
			pci_write32(table, at + word, 0);
	}
	fence_devices(); /* docs/memory-order.md, "Rest" */
	return !table || *next >= f->msix_vectors;
}

bool pci_virtio_is_translated(const struct pci_function *f)
{
	uint64_t at = common(f);
	uint32_t features;

	if (!f->virtio || !at)
		return false;
	pci_write32(at, FEATURE_SELECT, ACCESS_PLATFORM / 32);
	features = pci_read32(at, FEATURES);
	pci_write32(at, FEATURE_SELECT, 0);
	return features & 1U << ACCESS_PLATFORM % 32;
}

bool pci_reset_range(const struct pci_function *f, uint32_t n, uint64_t *at, uint64_t *size)
{
	*at = n ? msix_table(f) : f->virtio ? common(f) : 0;
	*size = n ? MSIX_ENTRY * f->msix_vectors : COMMON_SIZE;
	return n < 2;
}
