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

/* Looks at a register in one step, for an IOMMU that answers soon. */
#define LOOKS 8U

bool iommu_wait(const struct iommu *iommu, uint64_t reg, uint32_t mask, uint32_t value)
{
	while ((io_read32(iommu->base + reg) & mask) != value) { /* WAITS */
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

/* Returns false if the register does not hold the new value. */
static bool set_base(const struct iommu *iommu, uint64_t reg, const volatile void *queue,
                     uint32_t log2_1)
{
	uint64_t value = IOMMU_PPN((uint64_t)queue) | log2_1;

	io_write64(iommu->base + reg, value);
	return io_read64(iommu->base + reg) == value;
}

/* Records that the IOMMU does not answer. The commands in its queue are lost. */
static void set_stuck(struct iommu *iommu)
{
	iommu->queue = IOMMU_STUCK;
	iommu->round++;
	iommu->wait_start = csr_read(CSR_TIME);
}

bool iommu_is_broken(const struct iommu *iommu)
{
	return iommu->queue == IOMMU_STUCK &&
	       csr_read(CSR_TIME) - iommu->wait_start < REST * iommu->timeout;
}

/* Makes a step of turning the command queue off and on again, if the IOMMU has done the last one.
 */
static void restart_step(struct iommu *iommu)
{
	uint32_t csr = io_read32(iommu->base + IOMMU_CQCSR), on = csr & (QCSR_BUSY | QCSR_ON);

	if (iommu->queue == IOMMU_STUCK && !(csr & QCSR_BUSY)) {
		io_write32(iommu->base + IOMMU_CQCSR, QCSR_ERRORS);
		iommu_start_timeout(iommu);
		iommu->queue = IOMMU_TURNS_OFF;
	} else if (iommu->queue == IOMMU_TURNS_OFF && !on) {
		if (!set_base(iommu, IOMMU_CQB, iommu->commands, COMMANDS_LOG2_1)) {
			set_stuck(iommu);
			return;
		}
		io_write32(iommu->base + IOMMU_CQT, 0);
		io_write32(iommu->base + IOMMU_CQCSR, QCSR_ON_REQUEST);
		iommu_start_timeout(iommu);
		iommu->queue = IOMMU_TURNS_ON;
	} else if (iommu->queue == IOMMU_TURNS_ON && on == QCSR_ON) {
		iommu->tail = 0;
		iommu->queue = IOMMU_ON;
	} else if (iommu->queue == IOMMU_STUCK || iommu_timed_out(iommu)) {
		set_stuck(iommu);
	}
}

bool iommu_is_ready(struct iommu *iommu)
{
	uint32_t round = iommu->round;

	if (iommu_is_broken(iommu))
		return false;
	/* A failure ends this: then the IOMMU is left alone. */
	for (uint32_t n = 0; n < LOOKS && iommu->queue != IOMMU_ON && iommu->round == round;
	     n++) /* WAITS */
		restart_step(iommu);
	return iommu->queue == IOMMU_ON;
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
	iommu->queue = IOMMU_TURNS_OFF; /* iommu_queues_off() has done it */
	iommu_start_timeout(iommu);
	while (!iommu_is_ready(iommu)) { /* WAITS */
		if (iommu->queue == IOMMU_STUCK)
			return "its command queue cannot be turned on";
	}
	iommu_start_timeout(iommu);
	if (!set_base(iommu, IOMMU_FQB, iommu->faults, RECORDS_LOG2_1))
		return "its fault queue cannot be turned on";
	/* The IOMMU sets the other index to 0. */
	io_write32(iommu->base + IOMMU_FQH, 0);
	io_write32(iommu->base + IOMMU_FQCSR, QCSR_ON_REQUEST);
	if (!iommu_wait(iommu, IOMMU_FQCSR, QCSR_BUSY | QCSR_ON, QCSR_ON))
		return "its fault queue cannot be turned on";
	iommu->head = 0;
	return NULL;
}

bool iommu_send(struct iommu *iommu, struct iommu_work *work, const uint64_t (*commands)[2],
                uint32_t n)
{
	uint32_t used = (iommu->tail - io_read32(iommu->base + IOMMU_CQH)) % COMMANDS;
	const uint64_t fence[1][2] = {
	    {CMD_IOFENCE_C | CMD_AV | CMD_PR_PW | CMD_DATA(iommu->fence_value + 1),
	     (uint64_t)iommu->fence_word >> 2}};

	if (used + n + 1 >= COMMANDS) {
		/* All VMs' commands together do not fill it. */
		set_stuck(iommu);
		return false;
	}
	for (uint32_t i = 0; i <= n; i++) {
		const uint64_t *command = i < n ? commands[i] : fence[0];

		iommu->commands[COMMAND_WORDS * iommu->tail] = command[0];
		iommu->commands[COMMAND_WORDS * iommu->tail + 1] = command[1];
		iommu->tail = (iommu->tail + 1) % COMMANDS;
	}
	work->round = iommu->round;
	work->fence = ++iommu->fence_value;
	work->since = csr_read(CSR_TIME);
	/* The IOMMU must see the commands, and the tables that the commands are about. */
	fence_memory_then_output();
	io_write32(iommu->base + IOMMU_CQT, iommu->tail);
	return true;
}

bool iommu_has_done(struct iommu *iommu, const struct iommu_work *work)
{
	uint32_t errors = 0;

	for (uint32_t n = 0; n < LOOKS && !errors; n++) { /* WAITS */
		/* Later fences complete after earlier ones, so a higher value is as good. The last
		 * look may be long ago: this comes before a look at the time. */
		if ((int32_t)(*iommu->fence_word - work->fence) >= 0) {
			/* Orders all that follows after the completion of the commands. */
			fence_acquire_all();
			return true;
		}
		errors = io_read32(iommu->base + IOMMU_CQCSR) & QCSR_ERRORS;
	}
	if (errors || csr_read(CSR_TIME) - work->since >= iommu->timeout)
		set_stuck(iommu);
	return false;
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
	static const uint8_t known[24] = {
	    [1] = IOMMU_FETCH, [12] = IOMMU_FETCH, [20] = IOMMU_FETCH, [4] = IOMMU_READ,
	    [5] = IOMMU_READ,  [13] = IOMMU_READ,  [21] = IOMMU_READ,  [6] = IOMMU_WRITE,
	    [7] = IOMMU_WRITE, [15] = IOMMU_WRITE, [23] = IOMMU_WRITE,
	};

	if (cause < sizeof(known) && known[cause])
		return known[cause];
	return type == 9 || (cause >= 261 && cause <= 264) ? IOMMU_MESSAGE : IOMMU_ACCESS;
}

uint32_t iommu_waiting_faults(const struct iommu *iommu)
{
	return (io_read32(iommu->base + IOMMU_FQT) - iommu->head) % RECORDS;
}

bool iommu_first_fault(const struct iommu *iommu, struct iommu_fault *fault)
{
	const volatile uint64_t *record = &iommu->faults[RECORD_WORDS * iommu->head];

	if (!iommu_waiting_faults(iommu))
		return false;
	fence_input_then_memory();
	uint64_t first = record[0];

	*fault = (struct iommu_fault){
	    .device = RECORD_DEVICE(first),
	    .cause = RECORD_CAUSE(first),
	    .access = access_of(RECORD_CAUSE(first), RECORD_TYPE(first)),
	    .address = record[2],
	};
	return true;
}

void iommu_drop_fault(struct iommu *iommu)
{
	iommu->head = (iommu->head + 1) % RECORDS;
	/* The record must be read before the IOMMU may write there again. */
	fence_reads_then_output();
	io_write32(iommu->base + IOMMU_FQH, iommu->head);
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
