/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and registers of the IOMMU that is part of a test. */
#include <stdlib.h>

#include "arch/riscv/hart/io.h"
#include "tests/host/fake_iommu_parts.h"

/* --- commands ---------------------------------------------------------------------------- */

static void device_reads(void)
{
	uint64_t to;

	if (fake_iommu.meanwhile)
		(void)fake_translate(0x10, fake_iommu.meanwhile, false, &to, true);
}

static void forget(uint64_t command)
{
	uint32_t id = (uint32_t)(command >> 40), gscid = (uint32_t)(command >> 44) & 0xffff;
	bool all = !(command >> 33 & 1);

	for (uint32_t i = 0; i < FAKE_KEPT && !fake_iommu.forgets_nothing; i++) {
		if ((command & 0x3ff) == CMD_IODIR_INVAL_DDT && (all || contexts[i].id == id))
			contexts[i].used = false;
		if ((command & 0x7f) != 1 || !(all || translations[i].gscid == gscid))
			continue;
		/* Without a GSCID the first stage forgets the host's address spaces only. */
		if ((command & 0x3ff) == CMD_IOTINVAL_GVMA)
			translations[i].second = false;
		else if (!all)
			translations[i].first = false;
		translations[i].used &= translations[i].first || translations[i].second;
	}
}

/* Carries out what is in the queue. Between two fences the last command comes first. */
static void run(void)
{
	uint32_t n = 2U << (r.cqb & 31), end;
	const uint64_t *queue = fake_memory(r.cqb);

	while (r.cqcsr & QCSR_ON && !(r.cqcsr & QCSR_ERRORS) && !fake_iommu.stops &&
	       r.cqh != r.cqt) {
		for (end = r.cqh; end != r.cqt && (queue[2 * end] & 0x7f) != CMD_IOFENCE_C;)
			end = (end + 1) % n;
		if (end == r.cqt)
			return; /* it takes its time */
		if (fake_iommu.illegal) {
			fake_iommu.illegal = false;
			r.cqcsr |= 1U << 10;
			return;
		}
		for (uint32_t i = end; i != r.cqh; fake_iommu.commands++) {
			i = (i + n - 1) % n;
			forget(queue[2 * i]);
			device_reads();
		}
		if (fake_iommu.fences_hang)
			return;
		fake_iommu.commands++;
		fake_iommu.fences++;
		*(uint32_t *)(queue[2 * end + 1] << 2) = (uint32_t)(queue[2 * end] >> 32);
		r.cqh = (end + 1) % n;
	}
}

void fake_iommu_runs(void)
{
	run();
}

/* --- registers --------------------------------------------------------------------------- */

static uint32_t offset_of(uint64_t address)
{
	if (address - FAKE_IOMMU_BASE >= 0x300)
		abort();
	fake_iommu.accesses++;
	return (uint32_t)(address - FAKE_IOMMU_BASE);
}

/* A register was written, and is busy for a while. */
static void now_busy(void)
{
	r.busy = fake_iommu.busy;
}

static bool is_busy(void)
{
	if (fake_iommu.stays_busy)
		return true;
	if (r.busy)
		r.busy--;
	return r.busy;
}

/* `own`: the index that the IOMMU writes, which begins at 0. Software has the other one. */
static void write_csr(uint32_t *csr, uint32_t value, uint32_t *own)
{
	fake_iommu.went_wrong += *csr & QCSR_BUSY || r.busy;
	*csr &= ~(value & QCSR_ERRORS) & ~(QCSR_ON_REQUEST | QCSR_INTERRUPT);
	*csr |= value & (QCSR_ON_REQUEST | QCSR_INTERRUPT);
	if (value & QCSR_ON_REQUEST && !(*csr & QCSR_ON) && !fake_iommu.stays_off) {
		*csr |= QCSR_ON;
		*csr &= ~QCSR_ERRORS;
		*own = 0;
	} else if (!(value & QCSR_ON_REQUEST) && !fake_iommu.stays_on) {
		*csr &= ~QCSR_ON;
	}
	now_busy();
}

static void write_ddtp(uint64_t value)
{
	uint64_t mode = value & DDTP_MODE, old = r.ddtp & DDTP_MODE;

	/* On its way to Off it keeps its directory. What it remembers must be gone when it is
	 * turned on. */
	fake_iommu.went_wrong += mode == DDTP_OFF && (value ^ r.ddtp) >> 10;
	fake_iommu.went_wrong += mode > 1 && fake_iommu_remembers_any();
	/* From one directory to another it goes through Off. */
	fake_iommu.went_wrong +=
	    r.busy || (mode > 1 && old > 1) || (mode > 1 && !(r.cqcsr & QCSR_ON));
	if (mode > 1 && (fake_iommu.keeps_ddtp ||
	                 (fake_iommu.most_levels && mode - 1 > fake_iommu.most_levels)))
		value = r.ddtp;
	r.ddtp = value;
	now_busy();
}

static void trial(uint64_t ctl)
{
	uint64_t to = 0;
	bool write = !(ctl & TR_REQ_READ);
	uint32_t id = (uint32_t)(ctl >> 40),
	         cause = fake_translate(id, r.tr_iova, write, &to, false);

	if (cause && fake_iommu.records_trials)
		fake_record(id, r.tr_iova, write, cause);
	r.tr_response = cause ? TR_RESPONSE_FAULT : IOMMU_PPN(to);
	if (!cause && fake_iommu.as_qemu)
		r.tr_response = to >> 12 & ~0x3ffUL;
	r.tr_ctl = ctl & ~TR_REQ_GO;
	now_busy();
}

static void take_until(uint32_t end)
{
	uint32_t n = 2U << (r.fqb & 31);

	for (uint32_t i = r.fqh; r.fqcsr & QCSR_ON && i != end; i = (i + 1) % n) {
		fake_iommu.taken++;
		if (fake_iommu.taking)
			fake_iommu.taking((uint32_t)(fake_memory(r.fqb)[4 * i] >> 40));
	}
}

uint32_t io_read32(uint64_t address)
{
	switch (offset_of(address)) {
	case IOMMU_FCTL:
		return r.fctl;
	case IOMMU_DDTP:
		return (uint32_t)r.ddtp | (is_busy() ? (uint32_t)DDTP_BUSY : 0);
	case IOMMU_CQH:
		run();
		return r.cqh;
	case IOMMU_FQT:
		return r.fqt;
	case IOMMU_CQCSR:
		run();
		return r.cqcsr | (is_busy() ? QCSR_BUSY : 0);
	case IOMMU_FQCSR:
		return r.fqcsr | (is_busy() ? QCSR_BUSY : 0);
	case IOMMU_PQCSR:
		return r.pqcsr | (is_busy() ? QCSR_BUSY : 0);
	case IOMMU_TR_REQ_CTL:
		return (uint32_t)r.tr_ctl | (is_busy() ? (uint32_t)TR_REQ_GO : 0);
	default:
		abort();
	}
}

uint64_t io_read64(uint64_t address)
{
	switch (offset_of(address)) {
	case IOMMU_CAPABILITIES:
		return fake_iommu.caps;
	case IOMMU_DDTP:
		return r.ddtp;
	case IOMMU_CQB:
		return r.cqb;
	case IOMMU_FQB:
		return r.fqb;
	case IOMMU_TR_RESPONSE:
		return r.tr_response;
	case IOMMU_ICVEC:
		return r.icvec;
	default:
		abort();
	}
}

void io_write32(uint64_t address, uint32_t value)
{
	uint32_t unused;

	switch (offset_of(address)) {
	case IOMMU_FCTL:
		fake_iommu.went_wrong += (r.ddtp & DDTP_MODE) != DDTP_OFF;
		fake_iommu.went_wrong += (r.cqcsr | r.fqcsr | r.pqcsr) & QCSR_ON_REQUEST;
		r.fctl = fake_iommu.no_wires ? 0 : value & FCTL_WSI;
		r.fctl |= fake_iommu.narrow ? FCTL_GXL : 0;
		break;
	case IOMMU_CQT:
		r.cqt = value;
		run();
		break;
	case IOMMU_FQH:
		take_until(value);
		r.fqh = value;
		break;
	case IOMMU_CQCSR:
		write_csr(&r.cqcsr, value, &r.cqh);
		break;
	case IOMMU_FQCSR:
		write_csr(&r.fqcsr, value, &r.fqt);
		break;
	case IOMMU_PQCSR:
		write_csr(&r.pqcsr, value, &unused);
		break;
	case IOMMU_IOCOUNTINH:
		fake_iommu.counts = ~value;
		break;
	case IOMMU_IPSR:
		/* It comes back while the reason is there. */
		if (value & IPSR_FIP)
			fake_iommu.interrupts =
			    r.fqcsr & QCSR_INTERRUPT && r.fqcsr & (FQCSR_FQMF | FQCSR_FQOF);
		break;
	default:
		abort();
	}
}

void io_write64(uint64_t address, uint64_t value)
{
	switch (offset_of(address)) {
	case IOMMU_DDTP:
		write_ddtp(value);
		break;
	case IOMMU_CQB:
		fake_iommu.went_wrong += !!(r.cqcsr & QCSR_ON);
		r.cqb = fake_iommu.keeps_cqb ? r.cqb : value;
		break;
	case IOMMU_FQB:
		fake_iommu.went_wrong += !!(r.fqcsr & QCSR_ON);
		r.fqb = value;
		break;
	case IOMMU_TR_REQ_IOVA:
		r.tr_iova = value;
		break;
	case IOMMU_TR_REQ_CTL:
		trial(value);
		break;
	case IOMMU_ICVEC:
		r.icvec = value & 0x3333;
		break;
	default:
		abort();
	}
}
