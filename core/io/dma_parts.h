/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of DMA: dma.c (functions and lives), dma_faults.c (handling of faults) and
 * dma_log.c (lines of the log). Only these and their test include it. */
#ifndef CORE_IO_DMA_PARTS_H
#define CORE_IO_DMA_PARTS_H

#include "arch/riscv/devices/irqchip.h"
#include "arch/riscv/hart/spinlock.h"
#include "core/hart/pcpu.h"
#include "core/host/vm_config.h"
#include "core/io/dma.h"
#include "core/log.h"

struct dma_function {
	/* Constant after boot. */
	struct vm *vm;
	const char *name;
	uint32_t id; /* at the IOMMU */

	bool live; /* it reaches the VM's memory */
	bool off;  /* it made too many faults in this life */
	bool off_unlogged;
	uint64_t first; /* number of the first record that may be of this life */
	/* Faults in the window that began at `since`. */
	uint32_t faults;
	uint64_t since;
};

/* State of the log for a VM's functions, or for functions that no VM has. */
struct dma_log_state {
	bool ever;
	uint64_t at;             /* time of the last line */
	uint32_t unlogged;       /* faults since then */
	struct iommu_fault last; /* the last one of these */
};

#define STORM_FAULTS 64U /* of a function, in a window */
#define STORM_MS     10UL

#define STAY_FAULTS 8U  /* most faults in one stay, and in DMA_REST_MS */
#define DMA_REST_MS 1UL /* between two stays, while something is left */

/* A stay of a hart. All its work is for one VM, whose lead hart it is. */
struct dma_stay {
	uint64_t now;
	bool begun; /* `vm` is set; NULL: functions that no VM has */
	const struct vm *vm;
	struct vcpu *other; /* vcpu 0 of the VM whose hart must continue; NULL if there is none */
	bool again;         /* some work is left for another stay */
	/* It has made or printed a line, or served records: one stay does one of these, but for the
	 * line of its first record. */
	bool logged;
	uint32_t served;
	/* Functions to be turned off at its end. */
	uint32_t n_off;
	uint32_t off[STAY_FAULTS]; /* their ids */
};

extern struct dma {
	struct spinlock lock;
	const char *refusal; /* why nothing can be isolated, or NULL */
	struct iommu iommu;
	bool tried; /* tested: it translates correctly */
	iommu_alloc_fn *alloc;
	uint64_t served; /* records since boot */
	uint32_t n_functions;
	struct dma_function functions[VM_MAX_FUNCTIONS];
	struct {
		struct iommu_domain domain; /* constant after boot */
		struct dma_log_state log;
		/* functions[] before `next` are attached, or detached; `work` is about that one. */
		bool attaches;
		uint32_t next;
		struct iommu_work work;
	} vms[VM_MAX_VMS];
	struct dma_log_state nobody;
	struct dma_log_state lost; /* faults that the IOMMU has not recorded */
	bool lost_by_memory;
	bool untold;            /* a line may have to be logged: one of these has `unlogged` */
	uint32_t unlogged_offs; /* functions with off_unlogged */
	/* A line that is made, and waits for a stay that prints it. */
	char line[LOG_LINE_BYTES];
	const struct vm *line_of; /* NULL: it is about no VM */
	/* Records that may still be served in the period that began at budget_since. */
	uint32_t budget;
	uint64_t budget_since;
	uint64_t last_empty; /* when the queue was last empty */
	/* The hart that served last, and that gets the interrupt of the next fault. */
	const struct pcpu *listener;
	/* The interrupt of the fault queue; number 0 if there is none. */
	struct irqchip_source wire;
	uint32_t place; /* its destination */
	bool held;      /* claimed, and not completed */
} dma;

/* Whether the stay may work for a VM (NULL: for functions that no VM has). If not, it notifies the
 * VM's hart, or another stay follows. */
bool dma_stay_claim(struct dma_stay *stay, const struct vm *vm);

/* Returns NULL if no VM has it. */
struct dma_function *dma_function_of(uint32_t id);

/* Logs a fault, now or later. Called before it is counted as served. */
void dma_log(struct dma_stay *stay, const struct dma_function *f, const struct iommu_fault *fault);

/* Has a later stay log that a function was turned off. */
void dma_log_off(struct dma_function *f);

/* Has a later stay log lost records, if there are any. */
void dma_log_lost(void);

/* Makes or prints a line that is due, if the stay has done nothing yet. Returns the time of the
 * next line that this hart has to log. */
uint64_t dma_log_due(struct dma_stay *stay);

/* Prints the line that waits, whosever it is. */
void dma_log_waiting(struct dma_stay *stay);

/* Makes a line for the VM of the stay, even if it is not due. */
void dma_log_stay_vm(struct dma_stay *stay);

#endif
