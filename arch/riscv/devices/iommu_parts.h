/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the IOMMU share: iommu.c (on and off, contexts), iommu_queue.c (commands and
 * faults) and iommu_try.c. No other file includes this. */
#ifndef ARCH_RISCV_DEVICES_IOMMU_PARTS_H
#define ARCH_RISCV_DEVICES_IOMMU_PARTS_H

#include "arch/riscv/devices/iommu.h"
#include "arch/riscv/devices/iommu_regs.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/io.h"

#define IOMMU_QUEUE_BYTES PAGE_SIZE

/* All that is waited for from here on is to come in `patience`. */
static inline void iommu_wait_from_now(struct iommu *iommu)
{
	iommu->since = csr_read(CSR_TIME);
}

static inline bool iommu_waited_enough(const struct iommu *iommu)
{
	return csr_read(CSR_TIME) - iommu->since >= iommu->patience;
}

/* Waits until a register has these bits of a mask. Returns false if it has not in time. */
bool iommu_wait(const struct iommu *iommu, uint64_t reg, uint32_t mask, uint32_t value);

/* Turns all queues off, whatever they did before. Returns what does not work, or NULL. */
const char *iommu_queues_off(struct iommu *iommu);

/* Turns those on that are used. Returns what does not work, or NULL. */
const char *iommu_queues_on(struct iommu *iommu);

/* Adds a command. Returns false if the queue has no room, or has stopped. */
bool iommu_command(struct iommu *iommu, uint64_t first, uint64_t second);

/* All commands so far are done, and what devices wrote under what they changed has arrived. Returns
 * false if that does not come to pass in time; then the queue starts anew with the next command. */
bool iommu_fence(struct iommu *iommu);

#endif
