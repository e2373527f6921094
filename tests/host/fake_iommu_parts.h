/* SPDX-License-Identifier: Apache-2.0 */
/* What fake_iommu.c and fake_iommu_regs.c share. No other file includes this. */
#ifndef FAKE_IOMMU_PARTS_H
#define FAKE_IOMMU_PARTS_H

#include "arch/riscv/devices/iommu_regs.h"
#include "tests/host/fake_iommu.h"

#define FAKE_KEPT 64U

extern struct fake_registers {
	uint64_t ddtp, cqb, fqb, icvec, tr_iova, tr_ctl, tr_response;
	uint32_t fctl, cqh, cqt, fqh, fqt, cqcsr, fqcsr, pqcsr, busy;
} r;

/* What it remembers. */
extern struct fake_context {
	bool used;
	uint32_t id;
	uint64_t words[8];
} contexts[FAKE_KEPT];
extern struct fake_translation {
	/* It is kept by each stage, and goes when both have been told to forget it. */
	bool used, first, second, write;
	uint32_t gscid;
	uint64_t page, to;
} translations[FAKE_KEPT];

/* The memory that an entry of a directory or table, or a base register leads to. */
uint64_t *fake_memory(uint64_t entry);
/* Returns 0 or the cause of a fault. `keep`: it may use and remember what it remembers. */
uint32_t fake_translate(uint32_t id, uint64_t address, bool write, uint64_t *to, bool keep);
bool fake_iommu_remembers_any(void);
void fake_record(uint32_t id, uint64_t address, bool write, uint32_t cause);

#endif
