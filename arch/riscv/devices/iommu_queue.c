/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to the IOMMU, and its fault records. */
#include "arch/riscv/devices/iommu_parts.h"

#define COMMAND_WORDS 2UL
#define COMMANDS      (IOMMU_QUEUE_BYTES / (8 * COMMAND_WORDS))
#define RECORD_WORDS  4UL
#define RECORDS       (IOMMU_QUEUE_BYTES / (8 * RECORD_WORDS))

_Static_assert(COMMANDS == 256 && RECORDS == 128, "LOG2SZ - 1 below");
#define COMMANDS_LOG2_1 7U
#define RECORDS_LOG2_1  6U

/* Pause after a failed command, in units of `patience`, so that a broken IOMMU takes at most 1/REST
 * of a hart's time. */
#define REST 32U

bool iommu_wait(const struct iommu *iommu, uint64_t reg, uint32_t mask, uint32_t value)
{
	while ((io_read32(iommu->base + reg) & mask) != value) {
		if (iommu_timed_out(iommu))
			return false;
	}
	return true;
}

/* Turns a queue off, and clears its errors. Returns false if it stays on. */
static bool queue_off(const struct iommu *iommu, uint64_t csr)
{
	if (!iommu_wait(iommu, csr, QCSR_BUSY, 0))
		return false;
	io_write32(iommu->base + csr, QCSR_ERRORS);
	return iommu_wait(iommu, csr, QCSR_BUSY | QCSR_ON, 0);
}

/* Software sets its index to 0; the IOMMU does so with the other one. */
static bool queue_on(const struct iommu *iommu, uint64_t csr, uint64_t index)
{
	io_write32(iommu->base + index, 0);
	io_write32(iommu->base + csr, QCSR_ON_REQUEST);
	return iommu_wait(iommu, csr, QCSR_BUSY | QCSR_ON, QCSR_ON);
}

/* Returns false if the register does not hold the new value. */
static bool set_base(const struct iommu *iommu, uint64_t reg, const volatile void *queue,
                     uint32_t log2_1)
{
	uint64_t value = IOMMU_PPN((uint64_t)queue) | log2_1;

	io_write64(iommu->base + reg, value);
	return io_read64(iommu->base + reg) == value;
}

static bool commands_on(struct iommu *iommu)
{
	if (!queue_off(iommu, IOMMU_CQCSR) ||
	    !set_base(iommu, IOMMU_CQB, iommu->commands, COMMANDS_LOG2_1) ||
	    !queue_on(iommu, IOMMU_CQCSR, IOMMU_CQT))
		return false;
	iommu->tail = 0;
	iommu->stuck = false;
	return true;
}

const char *iommu_queues_off(struct iommu *iommu)
{
	iommu_start_timeout(iommu);
	if (!queue_off(iommu, IOMMU_CQCSR))
		return "its command queue cannot be turned off";
	if (!queue_off(iommu, IOMMU_FQCSR))
		return "its fault queue cannot be turned off";
	/* Left on, it would write page requests to memory that the firmware has chosen. */
	if (iommu->capabilities & CAP_ATS && !queue_off(iommu, IOMMU_PQCSR))
		return "its queue of page requests cannot be turned off";
	return NULL;
}

const char *iommu_queues_on(struct iommu *iommu)
{
	iommu_start_timeout(iommu);
	if (!commands_on(iommu))
		return "its command queue cannot be turned on";
	iommu_start_timeout(iommu);
	if (!set_base(iommu, IOMMU_FQB, iommu->faults, RECORDS_LOG2_1) ||
	    !queue_on(iommu, IOMMU_FQCSR, IOMMU_FQH))
		return "its fault queue cannot be turned on";
	iommu->head = 0;
	return NULL;
}

/* Records that the IOMMU does not answer. Returns false, for the callers to return. */
static bool set_stuck(struct iommu *iommu)
{
	iommu->stuck = true;
	iommu->stuck_at = csr_read(CSR_TIME);
	return false;
}

bool iommu_is_broken(const struct iommu *iommu)
{
	return iommu->stuck && csr_read(CSR_TIME) - iommu->stuck_at < REST * iommu->timeout;
}

bool iommu_command(struct iommu *iommu, uint64_t first, uint64_t second)
{
	uint32_t next;

	if (iommu->stuck && !commands_on(iommu))
		return set_stuck(iommu);
	next = (iommu->tail + 1) % COMMANDS;
	while (io_read32(iommu->base + IOMMU_CQH) == next) {
		if (iommu_timed_out(iommu))
			return set_stuck(iommu);
	}
	iommu->commands[COMMAND_WORDS * iommu->tail] = first;
	iommu->commands[COMMAND_WORDS * iommu->tail + 1] = second;
	iommu->tail = next;
	/* The IOMMU must see the command, and the tables that the command is about. */
	fence_memory_then_output();
	io_write32(iommu->base + IOMMU_CQT, iommu->tail);
	return true;
}

bool iommu_fence(struct iommu *iommu)
{
	if (!iommu_command(iommu,
	                   CMD_IOFENCE_C | CMD_AV | CMD_PR_PW | CMD_DATA(++iommu->fence_value),
	                   (uint64_t)iommu->fence_word >> 2))
		return false;
	while (*iommu->fence_word != iommu->fence_value) {
		if (io_read32(iommu->base + IOMMU_CQCSR) & QCSR_ERRORS || iommu_timed_out(iommu))
			return set_stuck(iommu);
	}
	/* Orders all that follows after the completion of the commands. */
	fence_acquire_all();
	return true;
}

uint32_t iommu_wire(struct iommu *iommu, uint32_t n)
{
	uint32_t wire = n > 1 ? 1 : 0; /* wire 0 is that of commands */
	uint64_t at = iommu->base;

	if (!n || CAP_IGS(iommu->capabilities) == CAP_IGS_MSI_ONLY)
		return n;
	io_write64(at + IOMMU_ICVEC, ICVEC_FIV(wire));
	wire = (uint32_t)ICVEC_FIV_OF(io_read64(at + IOMMU_ICVEC));
	if (!(io_read32(at + IOMMU_FCTL) & FCTL_WSI) || wire >= n)
		return n;
	iommu_start_timeout(iommu);
	io_write32(at + IOMMU_FQCSR, QCSR_ON_REQUEST | QCSR_INTERRUPT);
	return iommu_wait(iommu, IOMMU_FQCSR, QCSR_BUSY | QCSR_INTERRUPT, QCSR_INTERRUPT) ? wire
	                                                                                  : n;
}

/* Causes are more exact than types: QEMU (10.0) has one type for reads and writes. */
static enum iommu_access access_of(uint32_t cause, uint32_t type)
{
	switch (cause) {
	case 1:
	case 12:
	case 20:
		return IOMMU_FETCH;
	case 4:
	case 5:
	case 13:
	case 21:
		return IOMMU_READ;
	case 6:
	case 7:
	case 15:
	case 23:
		return IOMMU_WRITE;
	case 261:
	case 262:
	case 263:
	case 264:
		return IOMMU_MESSAGE;
	default:
		return type == 9 ? IOMMU_MESSAGE : IOMMU_ACCESS;
	}
}

bool iommu_has_fault(const struct iommu *iommu)
{
	return io_read32(iommu->base + IOMMU_FQT) % RECORDS != iommu->head;
}

uint32_t iommu_waiting_faults(const struct iommu *iommu)
{
	return (io_read32(iommu->base + IOMMU_FQT) - iommu->head) % RECORDS;
}

bool iommu_first_fault(const struct iommu *iommu, uint32_t *device)
{
	if (!iommu_has_fault(iommu))
		return false;
	fence_input_then_memory();
	*device = RECORD_DEVICE(iommu->faults[RECORD_WORDS * iommu->head]);
	return true;
}

bool iommu_next_fault(struct iommu *iommu, struct iommu_fault *fault)
{
	const volatile uint64_t *record = &iommu->faults[RECORD_WORDS * iommu->head];

	if (!iommu_has_fault(iommu))
		return false;
	fence_input_then_memory();
	uint64_t first = record[0];

	*fault = (struct iommu_fault){
	    .device = RECORD_DEVICE(first),
	    .cause = RECORD_CAUSE(first),
	    .access = access_of(RECORD_CAUSE(first), RECORD_TYPE(first)),
	    .address = record[2],
	};
	iommu->head = (iommu->head + 1) % RECORDS;
	/* The record must be read before the IOMMU may write there again. */
	fence_reads_then_output();
	io_write32(iommu->base + IOMMU_FQH, iommu->head);
	return true;
}

void iommu_ack_faults(struct iommu *iommu)
{
	io_write32(iommu->base + IOMMU_IPSR, IPSR_FIP);
}

enum iommu_lost iommu_take_lost(struct iommu *iommu)
{
	uint32_t csr = io_read32(iommu->base + IOMMU_FQCSR);

	/* Another write is not allowed while the last one is in progress. */
	if (!(csr & (FQCSR_FQMF | FQCSR_FQOF)) || csr & QCSR_BUSY)
		return IOMMU_LOST_NONE;
	/* Error bits are cleared by a 1; the other bits keep their values. */
	io_write32(iommu->base + IOMMU_FQCSR, csr);
	return csr & FQCSR_FQMF ? IOMMU_LOST_MEMORY : IOMMU_LOST_OVERFLOW;
}
