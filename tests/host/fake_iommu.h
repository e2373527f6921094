/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RISC-V IOMMU (specification 1.0): registers, queues, directories and second stages in the
 * test's own memory. It keeps contexts and translations until a command forgets them, and runs
 * commands in any order between two fences. What may go wrong is chosen.
 */
#ifndef FAKE_IOMMU_H
#define FAKE_IOMMU_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_IOMMU_BASE UINT64_C(0x3010000)
#define FAKE_IOMMU_CAPS UINT64_C(0x78e2cf0f10) /* those of QEMU 10 */

/* Causes of faults. */
enum { FAKE_OFF = 256, FAKE_NO_CONTEXT = 258, FAKE_BAD_CONTEXT = 259, FAKE_NO_FILE = 262 };

extern struct fake_iommu {
	/* --- chosen before the first access ------------------------------------------------ */
	uint64_t caps;
	uint32_t busy;        /* looks after which a register is not busy any more */
	bool stays_busy;      /* for ever */
	bool stays_off;       /* queues do not come on */
	bool stays_on;        /* nor go off */
	bool keeps_ddtp;      /* ddtp takes no mode but Off and Bare */
	bool keeps_cqb;       /* the base of the command queue cannot be written */
	bool no_wires;        /* fctl.WSI stays 0 */
	bool narrow;          /* fctl.GXL stays 1 */
	bool translates_all;  /* any address, as itself */
	bool as_qemu;         /* tr_response as QEMU 10 has it */
	bool records_trials;  /* requests by registers for debugging leave records */
	uint32_t most_levels; /* of the directory; 0: as many as there are */
	/* --- chosen at any time ------------------------------------------------------------ */
	bool fences_hang;     /* commands are taken, and fences do not complete */
	bool stops;           /* no command is taken */
	bool illegal;         /* the next command is illegal */
	bool forgets_nothing; /* invalidations have no effect */
	uint64_t meanwhile;   /* between two commands device 0x10 reads there; 0: it does not */
	/* --- seen -------------------------------------------------------------------------- */
	uint32_t accesses;           /* to its registers */
	uint32_t commands;           /* that were carried out */
	uint32_t fences;             /* of those */
	bool interrupts;             /* ipsr.fip */
	uint32_t counts;             /* counters that are not inhibited */
	uint32_t taken;              /* records of faults that software has read */
	void (*taking)(uint32_t id); /* called for each one; NULL: nobody wants to know */
	uint32_t went_wrong;         /* what the specification forbids was done */
} fake_iommu;

/* The IOMMU as after reset, without any defect. */
void fake_iommu_reset(void);

/* A device accesses memory. Returns 0 and where it goes, or the cause of a fault, which is recorded
 * if there is room. */
uint32_t fake_iommu_access(uint32_t id, uint64_t address, bool write, uint64_t *to);

/* Carries out the commands in its queue, as it does at any access to its registers. */
void fake_iommu_runs(void);

/* How many records of faults nobody has taken. */
uint32_t fake_iommu_faults(void);

/* Whether it remembers anything of a device, or of a domain. */
bool fake_iommu_remembers(uint32_t id, uint32_t gscid);

#endif
