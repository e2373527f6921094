/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/iommu.h"

#include <stdatomic.h>

#include "arch/riscv/devices/iommu_parts.h"

#define NODE_BITS    9U /* of an id, used as index of a table of tables */
#define ID_BITS      24U
#define CONTEXT_BITS 6U /* the same for eight-word contexts; 7 for four-word ones */

#define FILES_MASK (IOMMU_FILES - 1UL)

static uint32_t leaf_bits(const struct iommu *iommu)
{
	return iommu->words == 8 ? CONTEXT_BITS : CONTEXT_BITS + 1;
}

static uint32_t id_bits(const struct iommu *iommu, uint32_t levels)
{
	uint32_t bits = leaf_bits(iommu) + NODE_BITS * (levels - 1);

	return bits < ID_BITS ? bits : ID_BITS;
}

/* Writes ddtp and waits. Returns false if the new value is not taken. */
static bool set_directory(struct iommu *iommu, uint64_t mode)
{
	uint64_t value = IOMMU_PPN((uint64_t)iommu->directory) | mode;

	iommu_start_timeout(iommu);
	if (!iommu_wait(iommu, IOMMU_DDTP, (uint32_t)DDTP_BUSY, 0))
		return false;
	/* Turning Off must keep the directory: changing both is not defined. */
	if (mode == DDTP_OFF)
		value = io_read64(iommu->base + IOMMU_DDTP) & ~(DDTP_MODE | DDTP_BUSY);
	fence_memory_then_output();
	io_write64(iommu->base + IOMMU_DDTP, value);
	if (!iommu_wait(iommu, IOMMU_DDTP, (uint32_t)DDTP_BUSY, 0))
		return false;
	value ^= io_read64(iommu->base + IOMMU_DDTP);
	return mode == DDTP_OFF ? !(value & DDTP_MODE) : !value;
}

static const char *lacks(const struct iommu *iommu, uint64_t last)
{
	uint64_t caps = iommu->capabilities;

	if (CAP_MAJOR(caps) != 1)
		return "it is not of version 1";
	if (!(caps & CAP_SV39X4))
		return "it has no Sv39x4";
	if (last >> CAP_PAS(caps))
		return "its addresses do not reach the end of the RAM";
	return NULL;
}

/* Writes registers, which must then read as written. */
static const char *configure(struct iommu *iommu)
{
	uint32_t fctl = io_read32(iommu->base + IOMMU_FCTL) & ~(FCTL_BE | FCTL_GXL | FCTL_WSI);
	const char *why;

	if (!set_directory(iommu, DDTP_OFF))
		return "it cannot be turned off";
	/* fctl may be written only while everything is off. */
	why = iommu_queues_off(iommu);
	if (why)
		return why;
	if (CAP_IGS(iommu->capabilities) != CAP_IGS_MSI_ONLY)
		fctl |= FCTL_WSI;
	io_write32(iommu->base + IOMMU_FCTL, fctl);
	fctl = io_read32(iommu->base + IOMMU_FCTL);
	if (fctl & FCTL_BE)
		return "it is big-endian";
	if (fctl & FCTL_GXL)
		return "its guests are of 32 bits";
	/* The IOMMU's counters may share a wire with faults. */
	if (iommu->capabilities & CAP_HPM)
		io_write32(iommu->base + IOMMU_IOCOUNTINH, ~0U);
	io_write32(iommu->base + IOMMU_IPSR, IPSR_ALL);
	return NULL;
}

/* Waits until the commands are done. At boot only. */
static bool send_all(struct iommu *iommu, const uint64_t (*commands)[2], uint32_t n)
{
	struct iommu_work work;

	if (!iommu_send(iommu, &work, commands, n))
		return false;
	while (!iommu_has_done(iommu, &work)) { /* WAITS */
		if (iommu->queue != IOMMU_ON)
			return false;
	}
	return true;
}

const char *iommu_init(struct iommu *iommu, uint64_t base, uint32_t last_id, uint64_t last,
                       uint64_t patience, iommu_alloc_fn *alloc)
{
	static const uint64_t contexts[][2] = {{CMD_IODIR_INVAL_DDT}},
	                      translations[][2] = {{CMD_IOTINVAL_VMA}, {CMD_IOTINVAL_GVMA}};
	uint64_t caps = io_read64(base + IOMMU_CAPABILITIES);
	const char *why;

	*iommu = (struct iommu){.base = base, .timeout = patience, .capabilities = caps};
	why = lacks(iommu, last);
	if (!why)
		why = configure(iommu);
	if (why)
		return why;
	iommu->words = caps & CAP_MSI_FLAT ? 8 : 4;
	iommu->directory = alloc(PAGE_SIZE);
	iommu->commands = alloc(IOMMU_QUEUE_BYTES);
	iommu->faults = alloc(IOMMU_QUEUE_BYTES);
	iommu->fence_word = alloc(PAGE_SIZE);
	why = iommu_queues_on(iommu);
	if (why)
		return why;
	if (!send_all(iommu, NULL, 0))
		return "it does not answer commands";
	for (iommu->levels = 1; iommu->levels < 3 && last_id >> id_bits(iommu, iommu->levels);)
		iommu->levels++;
	/* Invalidates the IOMMU's caches of former directories. */
	if (!send_all(iommu, contexts, 1) || !send_all(iommu, translations, 2)) {
		iommu->levels = 0;
		return "it does not answer commands";
	}
	if (!set_directory(iommu, DDTP_LEVELS(iommu->levels))) {
		iommu_off(iommu);
		return "it does not take a directory of devices";
	}
	return NULL;
}

void iommu_off(struct iommu *iommu)
{
	(void)set_directory(iommu, DDTP_OFF);
	iommu->levels = 0;
}

bool iommu_has_files(const struct iommu *iommu)
{
	return iommu->words == 8;
}

/* Returns the context of a device. NULL: the id is too high, or there is no table for it and alloc
 * is NULL. */
static uint64_t *context_of(const struct iommu *iommu, uint32_t id, iommu_alloc_fn *alloc)
{
	uint64_t *table = iommu->directory;

	if (!iommu->levels || id >> id_bits(iommu, iommu->levels))
		return NULL;
	for (uint32_t level = iommu->levels - 1; level; level--) {
		uint32_t shift = leaf_bits(iommu) + NODE_BITS * (level - 1);
		uint64_t *entry = &table[id >> shift & (BIT(NODE_BITS) - 1)];

		if (!*entry) {
			if (!alloc)
				return NULL;
			*entry = IOMMU_PPN((uint64_t)alloc(PAGE_SIZE)) | CONTEXT_V;
		}
		table = (uint64_t *)(*entry >> 10 << 12);
	}
	return &table[iommu->words * (id & (BIT(leaf_bits(iommu)) - 1))];
}

bool iommu_add(struct iommu *iommu, uint32_t id, iommu_alloc_fn *alloc)
{
	return context_of(iommu, id, alloc);
}

void iommu_domain_init(struct iommu_domain *domain, const uint64_t *root, uint32_t gscid,
                       uint64_t *files, uint64_t interrupt_files)
{
	*domain = (struct iommu_domain){
	    .iohgatp = IOHGATP_SV39X4 | (uint64_t)gscid << IOHGATP_GSCID | (uint64_t)root >> 12,
	    .gscid = gscid,
	    .files = files,
	    .interrupt_files = interrupt_files,
	};
}

void iommu_map_file(struct iommu_domain *domain, uint32_t n, hpa_t file)
{
	domain->files[2UL * n] = IOMMU_PPN(file.a) | MSI_PTE_BASIC | MSI_PTE_V;
}

/* Invalidates the IOMMU's caches of the device's context, and then of translations of either stage
 * that were made with it. Only a fence orders commands. Returns true when it is done. */
static bool forget(struct iommu *iommu, uint32_t id, uint32_t gscid, struct iommu_work *work)
{
	const uint64_t context[][2] = {{CMD_IODIR_INVAL_DDT | CMD_DEVICE(id)}};
	const uint64_t translations[][2] = {{CMD_IOTINVAL_VMA | CMD_GV_GSCID(gscid)},
	                                    {CMD_IOTINVAL_GVMA | CMD_GV_GSCID(gscid)}};

	if (work->round != iommu->round)
		work->step = 0; /* its commands are lost */
	if (!iommu_is_ready(iommu))
		return false;
	if (work->step == 0) {
		if (!iommu_send(iommu, work, context, 1))
			return false;
		work->step = 1;
	}
	if (!iommu_has_done(iommu, work))
		return false;
	if (work->step == 1) {
		if (!iommu_send(iommu, work, translations, 2))
			return false;
		work->step = 2;
	}
	return iommu_has_done(iommu, work);
}

bool iommu_attach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain,
                  struct iommu_work *work)
{
	volatile uint64_t *context = context_of(iommu, id, NULL);

	if (!context || (domain->files && !iommu_has_files(iommu)))
		return false;
	if (work->begun)
		return forget(iommu, id, domain->gscid, work);
	if (context[CONTEXT_TC])
		return false;
	work->begun = true;
	context[CONTEXT_IOHGATP] = domain->iohgatp;
	context[CONTEXT_TA] = 0;
	context[CONTEXT_FSC] = 0;
	if (domain->files) {
		context[CONTEXT_MASK] = FILES_MASK;
		context[CONTEXT_PATTERN] = domain->interrupt_files >> 12;
		context[CONTEXT_MSIPTP] = MSIPTP_FLAT | (uint64_t)domain->files >> 12;
	} else if (iommu_has_files(iommu)) {
		context[CONTEXT_MSIPTP] = 0;
	}
	/* Set valid last. */
	atomic_thread_fence(memory_order_release);
	context[CONTEXT_TC] = CONTEXT_V;
	return forget(iommu, id, domain->gscid, work);
}

bool iommu_detach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain,
                  struct iommu_work *work)
{
	volatile uint64_t *context = context_of(iommu, id, NULL);

	if (!context)
		return true;
	context[CONTEXT_TC] = 0;
	return forget(iommu, id, domain->gscid, work);
}
