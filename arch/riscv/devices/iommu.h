/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RISC-V IOMMU: what it translates of whom. A device whose id has no context is translated
 * nothing: its accesses are faults. A device in a domain reaches what the domain's G-stage table
 * maps, and interrupt files by the domain's table of these.
 *
 * Nothing here waits longer than `patience` in all once boot is over. After a failure nothing waits
 * at all for a while. The caller has a lock: only one hart is in here.
 */
#ifndef ARCH_RISCV_DEVICES_IOMMU_H
#define ARCH_RISCV_DEVICES_IOMMU_H

#include "core/lib/types.h"

/* Returns `size` bytes of zeroed memory, aligned to size. Never fails. */
typedef void *iommu_alloc_fn(size_t size);

struct iommu {
	uint64_t base;     /* of its registers */
	uint64_t patience; /* ticks of host time */
	uint64_t since;    /* the beginning of what is being waited for */
	uint64_t capabilities;
	uint32_t levels; /* of the directory; 0: the IOMMU is off */
	uint32_t words;  /* of a context */
	uint64_t *directory;
	/* The command queue: where the next command goes; the word that a fence writes, and what it
	 * wrote last. */
	uint64_t *commands;
	uint32_t tail;
	volatile uint32_t *answer;
	uint32_t asked;
	/* A command did not complete, at that time: the queue is started anew before the next one,
	 * which has to wait. */
	bool stuck;
	uint64_t stuck_at;
	/* The fault queue. */
	const volatile uint64_t *faults;
	uint32_t head;
};

/* A VM, as devices see it. */
struct iommu_domain {
	uint64_t iohgatp;
	uint32_t gscid;
	/* By page of `interrupt_files`, of IOMMU_FILES in all; NULL: there are none. */
	uint64_t *files;
	uint64_t interrupt_files; /* guest physical */
};

#define IOMMU_FILES 8U /* a power of 2 */

struct iommu_fault {
	uint32_t device;
	uint32_t cause;
	enum iommu_access {
		IOMMU_ACCESS, /* of unknown kind */
		IOMMU_READ,
		IOMMU_WRITE,
		IOMMU_FETCH,
		IOMMU_MESSAGE,
	} access;
	uint64_t address; /* guest physical */
};

/* What became of records of faults. */
enum iommu_lost { IOMMU_LOST_NONE, IOMMU_LOST_OVERFLOW, IOMMU_LOST_MEMORY };

/*
 * Takes over the IOMMU: translates nothing for ids up to last_id, and has its queues on. `last` is
 * the last address that it must reach. Returns in words why it cannot be used, and is off then;
 * NULL: it can. At boot only.
 */
const char *iommu_init(struct iommu *iommu, uint64_t base, uint32_t last_id, uint64_t last,
                       uint64_t patience, iommu_alloc_fn *alloc);

/* Translates nothing for anybody. */
void iommu_off(struct iommu *iommu);

/* Whether it checks messages of devices to interrupt files. */
bool iommu_has_files(const struct iommu *iommu);

/* Makes the fault queue interrupt by a wire, one of n. Returns which, or n if it cannot. At boot
 * only. */
uint32_t iommu_wire(struct iommu *iommu, uint32_t n);

/* The directory has room for a device. Must come before its first attach. Returns false if the id
 * is too high. At boot only. */
bool iommu_add(struct iommu *iommu, uint32_t id, iommu_alloc_fn *alloc);

/* `root` is that of a G-stage table, and no other domain has this gscid. `files` is a page for
 * iommu_map_file(), of zeros, or NULL. */
void iommu_domain_init(struct iommu_domain *domain, const uint64_t *root, uint32_t gscid,
                       uint64_t *files, uint64_t interrupt_files);

/* Before the first attach: messages to the n-th page behind interrupt_files go to `file`. */
void iommu_map_file(struct iommu_domain *domain, uint32_t n, hpa_t file);

/* Whether a command has failed so lately that no other one is tried. */
bool iommu_is_broken(const struct iommu *iommu);

/* The device is in the domain, and in no other. Returns false if the IOMMU does not answer: then it
 * is in none, but what it was for a moment may be remembered until iommu_detach(). */
bool iommu_attach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain);

/* The device is in no domain, and all that it wrote into this one has arrived. Returns false if the
 * IOMMU does not answer: then it may still be translated, and the caller has to come again. */
bool iommu_detach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain);

/* Finds whose the oldest record of a fault is, and leaves it. Returns false if there is none. */
bool iommu_first_fault(const struct iommu *iommu, uint32_t *device);

/* Takes the oldest record of a fault. Returns false if there is none. */
bool iommu_next_fault(struct iommu *iommu, struct iommu_fault *fault);

bool iommu_has_fault(const struct iommu *iommu);

/* Returns how many records were not taken yet. */
uint32_t iommu_waiting_faults(const struct iommu *iommu);

/* Forgets that the fault queue has interrupted. Records that come from here on interrupt again. */
void iommu_faults_seen(struct iommu *iommu);

/* Whether records were lost since the last call. Records are kept again. */
enum iommu_lost iommu_lost_faults(struct iommu *iommu);

/* Whether it has registers that tell what it would translate (DBG). */
bool iommu_can_translate(const struct iommu *iommu);

/* Tries, if it can, to translate for a device that nobody has; `last` is the last address of RAM.
 * Returns in words what was wrong; NULL: nothing. At boot only. */
const char *iommu_try(struct iommu *iommu, uint32_t id, uint64_t last, iommu_alloc_fn *alloc);

#endif
