/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a PCI bus, and VM trees that name functions of it. */
#ifndef TESTS_FAKE_PCI_H
#define TESTS_FAKE_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/riscv/devices/pci.h"
#include "core/host/vm_config.h"

#define ECAM        UINT64_C(0x30000000) /* of tests/host/boards/plic.dts */
#define WINDOW      UINT64_C(0x40000000)
#define WINDOW_END  UINT64_C(0x60000000)
#define COMMON      0x100U /* in BAR 4 */
#define MSIX_OFFSET 0x800U
#define WORDS       (PCI_HEADER_END / 4)

/* What refusals begin with. */
#define IT   "/vms/alpha/devices/it: pci: "
#define LAST "/vms/beta/devices/it: pci: "

/* A function: its configuration space, and the registers of a virtio one. */
struct model {
	uint32_t words[WORDS], writable[WORDS];
	uint32_t features, status, after_reset, select;
	bool busy, dead; /* requests on their way; it does not come back from a reset */
	unsigned int resets;
};

extern struct model bus[PCI_FUNCTIONS];
extern bool there[PCI_FUNCTIONS];
extern uint64_t tick;      /* passes with each look at the time */
extern uint32_t cleared;   /* entries of MSI-X tables */
extern bool unfenced;      /* it was written to a function, and no fence came since */
extern const char *no_dma; /* why there is no isolated DMA */
extern bool files;         /* the IOMMU has a table of interrupt files */
extern uint32_t n_files;   /* that were added to it */
extern struct vm_tree tree;

/* An empty bus, and two VMs without devices. */
int setup(void **state);

void put(struct model *m, uint32_t offset, uint32_t value, uint32_t writable);
struct model *add(uint32_t devfn, uint32_t id, uint32_t class);

/* With a BAR of 4 KiB and one of 16 KiB, MSI-X and virtio's common configuration. */
struct model *add_virtio(uint32_t devfn);

/* With one BAR of 1 MiB, PCI Express with FLR, or Advanced Features with one, and MSI that the
 * firmware has left on. */
struct model *add_plain(uint32_t devfn, bool express, bool af);

/* Where a function has a BAR. */
uint64_t place(const struct model *m, uint32_t bar);

/* Gives a VM a function. */
struct vm_device *give_vm(uint32_t vm, const char *host, bool by_id, uint32_t name);

/* Boot takes the tree, or refuses it in these words. */
void accept(void);
void refuse(const char *words);

/* The tests of resets and lives. */
int test_pci_resets(void);

#endif
