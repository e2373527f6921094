/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA of the VMs' functions, through the IOMMU: from the first life of a VM on each function
 * reaches the VM's memory and nothing else, between two lives it reaches nothing. Blocked accesses
 * are logged, at most one line a second and VM, and a function that does not stop making them is
 * turned off until the next life.
 *
 * One lock protects all of this, and the IOMMU. It is taken before the console's and `aiming`, and
 * never with vm->devices held.
 */
#ifndef CORE_IO_DMA_H
#define CORE_IO_DMA_H

#include "arch/riscv/devices/iommu.h"
#include "core/lib/types.h"

struct vm;

/* --- boot hart only ---------------------------------------------------------------------- */

/* Takes over the machine's IOMMU, if it has one, and tests it. After this no PCI function reaches
 * any memory. `alloc` is for all later allocations at boot. */
void dma_init(iommu_alloc_fn *alloc);

/* Logs the abilities of the IOMMU. */
void dma_report(void);

/* Returns in words why no VM can have an isolated function, or NULL if VMs can. */
const char *dma_refusal(void);

/* Whether the IOMMU restricts MSIs of functions to interrupt files. */
bool dma_has_files(void);

/* Sends the VM's MSIs to the n-th page after `base` to `file`. Before dma_add(). */
void dma_add_file(struct vm *vm, uint64_t base, uint32_t n, hpa_t file);

/* Gives a PCI function to a VM; `device_id` is its id at the IOMMU, and `name` the device's in the
 * VM tree. Returns in words why it cannot be isolated, or NULL. */
const char *dma_add(uint32_t device_id, struct vm *vm, const char *name);

/* Enables the interrupt for faults. After external_init() and the last dma_add(). */
void dma_listen(void);

/* --- lives ------------------------------------------------------------------------------- */

/* Before a life, with its functions at rest: makes a step of giving them the VM's memory. Returns
 * true when that is done. Lead hart only. */
bool dma_attach(struct vm *vm);

/* The life `life.number` begins: faults of the VM's functions are of this life from here on. */
void dma_begin(struct vm *vm);

/* A life is over, and no function begins an access any more: logs its remaining faults. Returns
 * false when none is left. Lead hart only. */
bool dma_log_remaining(struct vm *vm);

/* The functions are at rest: makes a step of blocking all their accesses. Returns true when that is
 * done, and their writes have arrived. Lead hart only. */
bool dma_end(struct vm *vm);

/* --- faults ------------------------------------------------------------------------------ */

/*
 * The lead hart of a VM does all work for faults of the VM's functions, at the VM's expense. Other
 * harts that find faults notify that hart.
 */

/* Another hart has found work for the VM's lead hart (REQ_FAULTS of vcpu 0); NULL: the time given
 * to external_poll_at() is over. */
void dma_serve(const struct vm *vm);

/* The calling hart has claimed a source. Returns false if it is not the IOMMU's. */
bool dma_handle_irq(uint32_t source);

/* Blocks all accesses of a VM's PCI function until the VM's next life. Lead hart only, which begins
 * that. */
void pci_block_function(uint32_t device_id);

#endif
