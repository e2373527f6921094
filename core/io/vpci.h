/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration space that a guest sees: one bus with the functions of its VM, at their own
 * device and function numbers. Elsewhere reads are all ones.
 *
 * Reads return values from boot, except for the status register. A BAR keeps its address; all ones
 * written to it read as its size, as usual. A function always decodes memory: only the guest sees
 * that bit change.
 *
 * Most functions are the host's. These get only the following writes: bus mastering, INTx Disable,
 * errors to clear in the status, and enable and mask of a MSI-X that the guest sees. Others are
 * made by Tally (core/io/notifier.c): constant words, BARs, and a kind.
 */
#ifndef CORE_IO_VPCI_H
#define CORE_IO_VPCI_H

#include "arch/riscv/devices/pci.h"
#include "core/vcpu/vm_state.h"

struct vm;

/* The registers of a function that are not constant. The VM's lock of devices is held. */
struct vpci_kind {
	/* Returns bits of a word that are set now, beside its constant ones and the header's. */
	uint32_t (*read)(const struct vpci_function *f, uint32_t word);
	/* The guest has written the bytes that `mask` selects; f->header has changed already. Bits
	 * of `value` beside them are 0. */
	void (*write)(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask);
};

/* Sets the words and sizes of a BAR: `flags` are its low four bits. At boot only. */
void vpci_set_bar(struct vpci_function *f, uint32_t n, uint64_t size, uint64_t value,
                  uint32_t flags);

/* Makes the guest's view of a function of the host whose BARs have their addresses. */
void vpci_init(struct vpci_function *f, const struct pci_function *host, bool intx, bool msix);

/* Marks functions as parts of one device if the VM has several in a slot. At boot, after all are
 * added. */
void vpci_join(struct vpci *v);

/* Resets the guest's view at the beginning of a life, and sets up the function of the host. */
void vpci_reset(struct vpci_function *f);

/* Keeps the function of the host from mastering the bus until the next life, even if the guest
 * enables it. */
void vpci_block_master(struct vpci_function *f);

/* Accesses of the guest: a row of core/dispatch/mmio.c. Misaligned reads, and reads of 8 bytes,
 * return 32 ones; such writes are ignored. */
uint64_t vpci_read(struct vm *vm, uint64_t offset, uint32_t width);
void vpci_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
