/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA of functions that VMs have, behind the IOMMU: from the first life of a VM on each function
 * reaches the VM's memory and nothing else, between two lives it reaches nothing. Accesses that
 * were kept away are told, a line a second and VM at most, and a function that does not stop making
 * them is turned off until the next life.
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

/* Takes over the machine's IOMMU, if it has one, and tries it. After this no function of PCI
 * reaches any memory. `alloc` is for all that follows at boot. */
void dma_init(iommu_alloc_fn *alloc);

/* Logs what the IOMMU is good for. */
void dma_report(void);

/* Returns in words why no VM can have an isolated function. NULL: VMs can. */
const char *dma_refused(void);

/* Whether the IOMMU checks messages of functions to interrupt files. */
bool dma_has_files(void);

/* The VM's messages to the n-th page behind `base` go to `file`. Before dma_add(). */
void dma_add_file(struct vm *vm, uint64_t base, uint32_t n, hpa_t file);

/* Gives a PCI function to a VM; `device_id` is the one that the IOMMU knows it by, and `name` the
 * device's in the VM tree. Returns in words why it cannot be isolated, or NULL. */
const char *dma_add(uint32_t device_id, struct vm *vm, const char *name);

/* Begins to listen for faults. After external_init() and the last dma_add(). */
void dma_listen(void);

/* --- lives ------------------------------------------------------------------------------- */

/* Whether a life may begin as far as this is concerned. If not, the IOMMU did not answer a moment
 * ago; the caller comes again. */
bool dma_may_begin(const struct vm *vm);

/* The life `life.number` begins: the VM's functions reach its memory. */
void dma_begin(struct vm *vm);

/* A life is over, and no function begins an access any more: tells what was not told of their
 * faults. Returns false when nothing is left. Lead hart only. */
bool dma_tell_rest(struct vm *vm);

/* The functions are at rest: they reach nothing, and what they wrote has arrived. Returns false if
 * the IOMMU does not answer; the caller comes again. Lead hart only. */
bool dma_end(struct vm *vm);

/* --- faults ------------------------------------------------------------------------------ */

/*
 * Whatever is to be done about faults of a VM's functions is done on its lead hart, and on its
 * account. Other harts that find some ask that hart to.
 */

/* REQ_FAULTS of vcpu 0: another hart has found something to do for the VM. */
void dma_asked(struct vm *vm);

/* A source was claimed by the calling hart. Returns false if it is not the IOMMU's. */
bool dma_came(uint32_t source);

/* The time has come that was given to external_look_at(). */
void dma_look(void);

/* Of PCI: the function does not access memory until the VM's next life. Nothing happens if that has
 * begun: the life is not the VM's `life.number` any more. Returns false then, and if no VM has it.
 */
bool pci_mute(uint32_t device_id, uint64_t life);

#endif
