/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the host's PCI bus, through their configuration space in memory (ECAM). HS maps the
 * pages of functions that VMs have; other functions can be reached only at boot, while translation
 * is off.
 *
 * No value of a function is trusted: walks and waits have bounds, and addresses are checked against
 * the sizes of its BARs.
 */
#ifndef ARCH_RISCV_DEVICES_PCI_H
#define ARCH_RISCV_DEVICES_PCI_H

#include "core/lib/types.h"

#define PCI_PAGE      UINT64_C(4096) /* bytes of configuration space of a function */
#define PCI_FUNCTIONS 256U           /* functions of a bus */
#define PCI_BARS      6U
#define PCI_CAPS      16U /* of a function; further ones are ignored */

/* Offsets in configuration space. */
#define PCI_ID                   0x00U
#define PCI_COMMAND              0x04U
#define PCI_STATUS               0x06U
#define PCI_CLASS                0x08U
#define PCI_HEADER               0x0eU
#define PCI_BAR                  0x10U
#define PCI_SUBSYSTEM            0x2cU
#define PCI_CAPABILITIES         0x34U
#define PCI_LINE                 0x3cU
#define PCI_PIN                  0x3dU
#define PCI_FIRST_CAP            0x40U
#define PCI_HEADER_END           0x100U
#define PCI_NOBODY               0xffffffffU /* the identity of a missing function */
#define PCI_COMMAND_MEMORY       0x0002U
#define PCI_COMMAND_MASTER       0x0004U
#define PCI_COMMAND_INTX_DISABLE 0x0400U
#define PCI_STATUS_INTX          0x0008U
#define PCI_STATUS_CAPABILITIES  0x0010U
#define PCI_STATUS_ERRORS        0xf900U /* each is cleared by writing 1 */
#define PCI_HEADER_MULTI         0x80U
#define PCI_BAR_IO               0x1U
#define PCI_BAR_WIDE             0x4U
#define PCI_BAR_PREFETCH         0x8U

enum {
	PCI_CAP_MSI = 0x05,
	PCI_CAP_VENDOR = 0x09,
	PCI_CAP_EXPRESS = 0x10,
	PCI_CAP_MSIX = 0x11,
	PCI_CAP_AF = 0x13, /* Advanced Features */
};

#define PCI_VENDOR_VIRTIO 0x1af4U
#define PCI_MSI_CONTROL   2U
#define PCI_MSIX_CONTROL  2U
#define PCI_MSIX_ENABLE   0x8000U
#define PCI_MSIX_MASK     0x4000U
/* The kind of a virtio capability, in its fourth byte (Virtio 1.2, 4.1.4). */
#define VIRTIO_CAP_COMMON 1U
#define VIRTIO_CAP_CONFIG 5U /* a window into the BARs, for access by configuration space */

/* Ways to bring a function to rest. */
enum pci_reset {
	PCI_RESET_NONE,
	PCI_RESET_VIRTIO,  /* 0 is written to its status, until it reads 0 */
	PCI_RESET_EXPRESS, /* FLR of the PCI Express capability */
	PCI_RESET_AF,      /* FLR of Advanced Features */
};

struct pci_bar {
	uint64_t size;  /* 0: no BAR, or it is the upper half of the BAR before */
	uint64_t at;    /* its address for harts */
	uint64_t value; /* the address on the bus */
	uint32_t flags; /* its low four bits */
};

/* A function as found at boot. Constant afterwards. */
struct pci_function {
	uint64_t page;   /* its configuration space */
	uint32_t bdf;    /* bus << 8 | device << 3 | function */
	uint32_t id;     /* device << 16 | vendor */
	uint32_t class;  /* 24 bits */
	uint32_t header; /* 0: a device; 1: a bridge */
	bool multi;      /* its device has other functions */
	uint32_t pin;    /* 0: no INTx; 1 to 4 */
	struct pci_bar bars[PCI_BARS];
	uint32_t n_caps;
	struct {
		uint8_t id, at;
	} caps[PCI_CAPS];
	enum pci_reset reset;
	uint32_t reset_cap;  /* offset of the capability with the FLR */
	uint32_t common_bar; /* BAR and offset of virtio's common configuration */
	uint32_t common_offset;
	bool virtio;   /* it has such a configuration */
	uint32_t msi;  /* offset of the capability, which no guest sees; 0: there is none */
	uint32_t msix; /* offset of the capability; 0: there is none */
	uint32_t msix_vectors, msix_bar, msix_offset;
};

/* Accesses to registers in configuration space and in BARs. */
uint32_t pci_read32(uint64_t page, uint32_t offset);
uint16_t pci_read16(uint64_t page, uint32_t offset);
uint8_t pci_read8(uint64_t page, uint32_t offset);
void pci_write32(uint64_t page, uint32_t offset, uint32_t value);
void pci_write16(uint64_t page, uint32_t offset, uint16_t value);
void pci_write8(uint64_t page, uint32_t offset, uint8_t value);

/* Turns off bus mastering, decoding and INTx of an existing function, and reads its header. `page`
 * is the address of its configuration space. Returns false if there is no function. */
bool pci_find(struct pci_function *f, uint64_t page, uint32_t bdf);

/* Finds the sizes of its BARs, and its capabilities. Decoding is off meanwhile. */
void pci_read_function(struct pci_function *f);

/* Returns INTx Disable as the function has it. It is not changed unnecessarily: on QEMU each change
 * makes all INTx lines that are high pending again, also those of other VMs (docs/pci.md). */
uint16_t pci_intx(const struct pci_function *f);

/* Writes the addresses of its BARs and the command register. Turns messages (MSI, MSI-X) off. */
void pci_set_up(const struct pci_function *f, uint16_t command);

/* Returns the address of registers in a BAR; 0: the BAR is too small. */
uint64_t pci_bar_address(const struct pci_function *f, uint32_t bar, uint64_t offset,
                         uint64_t size);

#endif
