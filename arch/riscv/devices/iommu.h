/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RISC-V IOMMU: which devices it translates, for which VM. If a device id has no context, every
 * access of the device is a fault. A device in a domain reaches the pages that the domain's G-stage
 * table maps, and interrupt files through the domain's table of these.
 *
 * After boot no function here waits. Attaching and detaching take several calls, of which each
 * makes at most IOMMU_STEP_ACCESSES accesses to registers. If a command has not completed
 * `patience` after it was sent, the IOMMU is left alone for a while, then its queue is turned off
 * and on. The caller has a lock: only one hart is in here.
 */
#ifndef ARCH_RISCV_DEVICES_IOMMU_H
#define ARCH_RISCV_DEVICES_IOMMU_H

#include "core/lib/types.h"

/* Returns `size` bytes of zeroed memory, aligned to size. Never fails. */
typedef void *iommu_alloc_fn(size_t size);

struct iommu {
	uint64_t base;       /* address of its registers */
	uint64_t timeout;    /* ticks of host time */
	uint64_t wait_start; /* host time: the beginning of the current wait */
	uint64_t capabilities;
	uint32_t levels; /* levels of the directory; 0: the IOMMU is off */
	uint32_t words;  /* words of a context */
	uint64_t *directory;
	/* The command queue: its memory; the index of the next command; the word that a fence
	 * writes, and the last value that it was asked to write. */
	uint64_t *commands;
	uint32_t tail;
	volatile uint32_t *fence_word;
	uint32_t fence_value;
	/* STUCK: a command did not complete, or the queue does not restart; since wait_start. The
	 * number of such failures is `round`: with each one all commands in the queue are lost. */
	enum iommu_queue { IOMMU_ON, IOMMU_STUCK, IOMMU_TURNS_OFF, IOMMU_TURNS_ON } queue;
	uint32_t round;
	/* The fault queue. */
	const volatile uint64_t *faults;
	uint32_t head;
};

/* The progress of attaching or detaching a device. Zeroed before the first call. */
struct iommu_work {
	bool begun;     /* the device's context has been written */
	uint32_t step;  /* number of fences sent */
	uint32_t round; /* `round` of the IOMMU when the commands were sent */
	uint32_t fence; /* the value that the fence after them writes */
	uint64_t since; /* host time at which they were sent */
};

/* Most accesses to registers in one call of iommu_attach() or iommu_detach(): eight looks and
 * five accesses for a restart of the queue, and for each of two fences two accesses and eight
 * looks.
 */
#define IOMMU_STEP_ACCESSES 33U

/* A VM, as devices see it. */
struct iommu_domain {
	uint64_t iohgatp;
	uint32_t gscid;
	/* One entry for each of IOMMU_FILES pages from `interrupt_files` on; NULL: none. */
	uint64_t *files;
	uint64_t interrupt_files; /* guest physical address */
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
	uint64_t address; /* guest physical address */
};

/* Why records of faults were lost. */
enum iommu_lost { IOMMU_LOST_NONE, IOMMU_LOST_OVERFLOW, IOMMU_LOST_MEMORY };

/*
 * Takes over the IOMMU: turns its queues on, and translates nothing for ids up to last_id. `last`
 * is the highest address that it must reach. Returns NULL, or in words why the IOMMU cannot be
 * used; then it is off. At boot only.
 */
const char *iommu_init(struct iommu *iommu, uint64_t base, uint32_t last_id, uint64_t last,
                       uint64_t patience, iommu_alloc_fn *alloc);

/* Turns the IOMMU off, so that it translates for no device. */
void iommu_off(struct iommu *iommu);

/* Whether it can route messages of devices to interrupt files. */
bool iommu_has_files(const struct iommu *iommu);

/* Makes the fault queue interrupt by one of n wires. Returns its index, or n if that is impossible.
 * At boot only. */
uint32_t iommu_wire(struct iommu *iommu, uint32_t n);

/* Makes room for a device in the directory. Must come before its first attach. Returns false if the
 * id is too high. At boot only. */
bool iommu_add(struct iommu *iommu, uint32_t id, iommu_alloc_fn *alloc);

/* `root` is the root of a G-stage table, and no other domain has this gscid. `files` is a zeroed
 * page for iommu_map_file(), or NULL. */
void iommu_domain_init(struct iommu_domain *domain, const uint64_t *root, uint32_t gscid,
                       uint64_t *files, uint64_t interrupt_files);

/* Routes messages to the n-th page from interrupt_files on to `file`. Before the first attach. */
void iommu_map_file(struct iommu_domain *domain, uint32_t n, hpa_t file);

/* Whether a command failed so recently that no other one is tried. */
bool iommu_is_broken(const struct iommu *iommu);

/* Puts the device into the domain; it must be in no other. Returns true when it is done. Otherwise
 * the caller calls again, with the same `work`, or gives up: then the IOMMU may have cached
 * translations until iommu_detach(). */
bool iommu_attach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain,
                  struct iommu_work *work);

/* Removes the device from the domain. Returns true when it is done: all its writes into the domain
 * have arrived. Until then the device may still be translated, and the caller has to call again,
 * with the same `work`. */
bool iommu_detach(struct iommu *iommu, uint32_t id, const struct iommu_domain *domain,
                  struct iommu_work *work);

/* Reads the oldest fault record, and keeps it. Returns false if there is none. */
bool iommu_first_fault(const struct iommu *iommu, struct iommu_fault *fault);

/* Drops the record that iommu_first_fault() has read. */
void iommu_drop_fault(struct iommu *iommu);

/* Returns the number of records in the queue. */
uint32_t iommu_waiting_faults(const struct iommu *iommu);

/* Clears the interrupt of the fault queue. Later records interrupt again. */
void iommu_ack_faults(struct iommu *iommu);

/* Whether, and why, records were lost since the last call. Records are kept again. */
enum iommu_lost iommu_take_lost(struct iommu *iommu);

/* Whether it has debug registers (DBG) that show its translations. */
bool iommu_can_translate(const struct iommu *iommu);

/* Tests the translation, if iommu_can_translate(), for a device that no VM has; `last` is the last
 * address of RAM. Returns NULL, or a text about the defect. At boot only. */
const char *iommu_try(struct iommu *iommu, uint32_t id, uint64_t last, iommu_alloc_fn *alloc);

#endif
