/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of DMA share: dma.c (functions and lives), dma_faults.c (who serves faults, and
 * what follows) and dma_tell.c (lines of the log). No other file but their test includes this. */
#ifndef CORE_IO_DMA_PARTS_H
#define CORE_IO_DMA_PARTS_H

#include "arch/riscv/devices/irqchip.h"
#include "arch/riscv/hart/spinlock.h"
#include "core/hart/pcpu.h"
#include "core/host/vm_config.h"
#include "core/io/dma.h"

#define DMA_FUNCTIONS 64U /* of all VMs */

struct dma_function {
	/* Constant after boot. */
	struct vm *vm;
	const char *name;
	uint32_t id; /* at the IOMMU */

	bool live;     /* it reaches the VM's memory */
	uint64_t life; /* the number of the VM's life */
	bool off;      /* it made too many faults in this life */
	bool off_untold;
	uint64_t first; /* number of the first record that may be of this life */
	/* Faults in the window that began then. */
	uint32_t faults;
	uint64_t since;
};

/* What is told of a VM's functions, or of functions that no VM has. */
struct dma_told {
	bool ever;
	uint64_t at;             /* the last line */
	uint32_t untold;         /* faults since */
	struct iommu_fault last; /* of these */
};

#define STORM_FAULTS 64U /* of a function, in a window */
#define STORM_MS     10UL

#define STAY_FAULTS 16U /* that are served in one stay, and in the time of DMA_REST_MS */
#define DMA_REST_MS 1UL /* between two stays, while something is left */

/* A stay of a hart: all that it does is for one VM, whose lead hart it is. */
struct dma_stay {
	uint64_t now;
	bool begun; /* it is for `vm`; NULL: for functions that no VM has */
	const struct vm *vm;
	struct vcpu *other; /* vcpu 0 of a VM whose hart has to go on; NULL: none */
	bool again;         /* something is left for a stay of its own */
	bool told;          /* it has written its line */
	/* Functions that are to be turned off after it. */
	uint32_t n_off;
	struct {
		uint32_t id;
		uint64_t life;
	} off[STAY_FAULTS];
};

extern struct dma {
	struct spinlock lock;
	const char *refused; /* why nothing can be isolated; NULL: it can */
	struct iommu iommu;
	bool tried; /* it has shown that it translates as it must */
	iommu_alloc_fn *alloc;
	uint64_t served; /* records, ever */
	uint32_t n_functions;
	struct dma_function functions[DMA_FUNCTIONS];
	struct {
		struct iommu_domain domain; /* constant after boot */
		struct dma_told told;
	} vms[VM_MAX_VMS];
	struct dma_told nobody;
	struct dma_told lost; /* faults that the IOMMU has not kept */
	bool lost_by_memory;
	uint32_t offs_untold; /* functions with off_untold */
	/* Records that may still be served in the time that began then. */
	uint32_t budget;
	uint64_t budget_since;
	uint64_t emptied; /* when nothing was left in the queue */
	/* The hart that served last, and that hears of the next fault. */
	const struct pcpu *listener;
	/* The interrupt of the fault queue; number 0: none. */
	struct irqchip_source wire;
	uint32_t place; /* where it aims */
	bool held;      /* it was claimed, and not completed */
} dma;

/* Whether the stay may work for a VM (NULL: for nobody). If not, it asks the VM's hart to, or comes
 * again. */
bool dma_stay_is_for(struct dma_stay *stay, const struct vm *vm);

/* NULL: no VM has it. */
struct dma_function *dma_function_of(uint32_t id);

/* Tells of a fault, now if it may, or later. */
void dma_tell(struct dma_stay *stay, const struct dma_function *f, const struct iommu_fault *fault);

/* A function was turned off. */
void dma_tell_off(struct dma_stay *stay, struct dma_function *f);

/* Records were lost, if any were. */
void dma_tell_lost(void);

/* Writes the line of a stay that has none, if one is due. Returns when the next is that this hart
 * has to write. */
uint64_t dma_tell_due(struct dma_stay *stay);

/* The same for the VM of the stay, whether it is due or not. */
void dma_tell_rest_of(struct dma_stay *stay);

#endif
