/* SPDX-License-Identifier: Apache-2.0 */
/* Test of the IOMMU's translation, by its debug registers. */
#include "arch/riscv/devices/iommu_parts.h"

/* Addresses at which the test's device sees its two pages of memory. */
#define FIRST_AT  0x40201000UL
#define SECOND_AT 0x40203000UL
#define GSCID     0xffffU  /* used by no VM */
#define ROOT      0x4000UL /* size of an Sv39x4 root in bytes */
#define PTE_NODE  0x01UL   /* V */
#define PTE_LEAF  0xd7UL   /* V, R, W, U, A, D */

bool iommu_can_translate(const struct iommu *iommu)
{
	return iommu->capabilities & CAP_DBG;
}

enum answer { TRANSLATED, FAULT, SILENT };

/* Returns the result of an access by the device. */
static enum answer ask(struct iommu *iommu, uint32_t id, uint64_t address, bool write,
                       uint64_t *response)
{
	iommu_start_timeout(iommu);
	if (!iommu_wait(iommu, IOMMU_TR_REQ_CTL, (uint32_t)TR_REQ_GO, 0))
		return SILENT;
	io_write64(iommu->base + IOMMU_TR_REQ_IOVA, ALIGN_DOWN(address, PAGE_SIZE));
	io_write64(iommu->base + IOMMU_TR_REQ_CTL,
	           TR_REQ_DEVICE(id) | (write ? 0 : TR_REQ_READ) | TR_REQ_GO);
	if (!iommu_wait(iommu, IOMMU_TR_REQ_CTL, (uint32_t)TR_REQ_GO, 0))
		return SILENT;
	*response = io_read64(iommu->base + IOMMU_TR_RESPONSE);
	return *response & TR_RESPONSE_FAULT ? FAULT : TRANSLATED;
}

/* Whether the response translates to `to`. The lowest bits of a page number show how many pages it
 * covers, as in NAPOT. QEMU (10.0) has that number at bit 0, without its lowest ten bits. */
static bool says(uint64_t response, uint64_t to)
{
	uint64_t page = TR_RESPONSE_PPN(response), covered = 0;

	if (response & TR_RESPONSE_SUPER)
		covered = page ^ (page + 1);
	return (page & ~covered) == (to / PAGE_SIZE & ~covered) ||
	       (response ^ to / PAGE_SIZE) >> 10 == 0;
}

static bool leads_to(struct iommu *iommu, uint32_t id, uint64_t address, uint64_t to)
{
	uint64_t by_read, by_write;

	return ask(iommu, id, address, false, &by_read) == TRANSLATED &&
	       ask(iommu, id, address, true, &by_write) == TRANSLATED && says(by_read, to) &&
	       says(by_write, to);
}

static bool is_fault(struct iommu *iommu, uint32_t id, uint64_t address)
{
	uint64_t response;

	return ask(iommu, id, address, false, &response) == FAULT &&
	       ask(iommu, id, address, true, &response) == FAULT;
}

static const char *look(struct iommu *iommu, uint32_t id, const uint64_t given[2])
{
	if (!leads_to(iommu, id, FIRST_AT, given[0]) || !leads_to(iommu, id, SECOND_AT, given[1]))
		return "it does not translate an address as its table says";
	if (!is_fault(iommu, id, FIRST_AT - 1) || !is_fault(iommu, id, FIRST_AT + PAGE_SIZE) ||
	    !is_fault(iommu, id, SECOND_AT - 1) || !is_fault(iommu, id, SECOND_AT + PAGE_SIZE) ||
	    !is_fault(iommu, id, given[0]) || !is_fault(iommu, id, given[1]))
		return "it translates an address that its table does not have";
	return NULL;
}

/* Makes a second stage with two pages. Larger pages would do, but QEMU (10.0) does not report the
 * target of an address within one. */
static const uint64_t *make_table(const uint64_t given[2], iommu_alloc_fn *alloc)
{
	uint64_t *root = alloc(ROOT), *middle = alloc(PAGE_SIZE), *leaves = alloc(PAGE_SIZE);

	root[FIRST_AT >> 30] = IOMMU_PPN(middle) | PTE_NODE;
	middle[FIRST_AT >> 21 & 511] = IOMMU_PPN(leaves) | PTE_NODE;
	leaves[FIRST_AT >> 12 & 511] = IOMMU_PPN(given[0]) | PTE_LEAF;
	leaves[SECOND_AT >> 12 & 511] = IOMMU_PPN(given[1]) | PTE_LEAF;
	return root;
}

/* Attaches or detaches the device. Returns false if a command does not complete in time. */
static bool all_steps(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain,
                      bool attach)
{
	struct iommu_work work = {0};

	iommu_start_timeout(iommu);
	while (!(attach ? iommu_attach(iommu, id, domain, &work)
	                : iommu_detach(iommu, id, domain, &work))) { /* WAITS */
		if (iommu->queue != IOMMU_ON || iommu_timed_out(iommu))
			return false;
	}
	return true;
}

const char *iommu_try(struct iommu *iommu, uint32_t id, uint64_t last, iommu_alloc_fn *alloc)
{
	const uint64_t given[2] = {(uint64_t)iommu->directory, ALIGN_DOWN(last, PAGE_SIZE)};
	struct iommu_domain domain;
	struct iommu_fault fault;
	const char *why = NULL;

	if (!iommu_can_translate(iommu))
		return NULL;
	if (!iommu_add(iommu, id, alloc) || !is_fault(iommu, id, FIRST_AT))
		return "it translates for a device without a context";
	iommu_domain_init(&domain, make_table(given, alloc), GSCID, NULL, 0);
	if (!all_steps(iommu, id, &domain, true))
		why = "it does not answer commands";
	if (!why)
		why = look(iommu, id, given);
	if (!all_steps(iommu, id, &domain, false) && !why)
		why = "it does not answer commands";
	if (!why && !is_fault(iommu, id, FIRST_AT))
		why = "it goes on translating for a device without a context";
	/* Some IOMMUs record the faults of this test, too. */
	for (uint32_t i = 0; i < IOMMU_QUEUE_BYTES && iommu_first_fault(iommu, &fault); i++)
		iommu_drop_fault(iommu);
	(void)iommu_take_lost(iommu);
	iommu_ack_faults(iommu);
	return why;
}
