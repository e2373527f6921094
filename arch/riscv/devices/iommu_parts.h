/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the IOMMU: iommu.c (on and off, contexts), iommu_queue.c (commands and
 * faults) and iommu_try.c. No other file includes this. */
#ifndef ARCH_RISCV_DEVICES_IOMMU_PARTS_H
#define ARCH_RISCV_DEVICES_IOMMU_PARTS_H

#include "arch/riscv/devices/iommu.h"
#include "arch/riscv/devices/iommu_regs.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/io.h"

#define IOMMU_QUEUE_BYTES PAGE_SIZE

/* Starts the time limit, `patience`, for all following waits at boot. */
static inline void iommu_start_timeout(struct iommu *iommu)
{
	iommu->wait_start = csr_read(CSR_TIME);
}

static inline bool iommu_timed_out(const struct iommu *iommu)
{
	return csr_read(CSR_TIME) - iommu->wait_start >= iommu->timeout;
}

/* Waits until the bits in `mask` of a register are `value`. Returns false after the time limit. At
 * boot only. */
bool iommu_wait(const struct iommu *iommu, uint64_t reg, uint32_t mask, uint32_t value);

/* Turns all queues off, whatever their state. Returns NULL, or a text about the defect. */
const char *iommu_queues_off(struct iommu *iommu);

/* Turns on the queues that are used. Returns NULL, or a text about the defect. */
const char *iommu_queues_on(struct iommu *iommu);

/* Whether commands can be given. If the queue has stopped, makes steps of its restart; these begin
 * only some time after the failure. Waits for nothing. */
bool iommu_is_ready(struct iommu *iommu);

/* Adds n commands and a fence. Returns false if the queue has no room for them, as it has stopped
 * then. */
bool iommu_send(struct iommu *iommu, struct iommu_work *work, const uint64_t (*commands)[2],
                uint32_t n);

/* Looks whether the commands that were sent for `work` are done, and devices' writes under the old
 * translations have arrived. If the time limit is over the queue counts as stopped. */
bool iommu_has_done(struct iommu *iommu, const struct iommu_work *work);

#endif
