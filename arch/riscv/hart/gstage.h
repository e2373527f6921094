/* SPDX-License-Identifier: Apache-2.0 */
/* G-stage translation with Sv39x4: one table per VM, created at boot and constant afterwards. */
#ifndef ARCH_RISCV_HART_GSTAGE_H
#define ARCH_RISCV_HART_GSTAGE_H

#include "core/lib/types.h"

#define GSTAGE_ROOT_SIZE KIB(16) /* also its alignment */
#define GSTAGE_BLOCK     MIB(2)  /* granule of guest memory */

struct gstage {
	uint64_t *root;
	uint64_t hgatp;
};

/* Returns `size` bytes of zeroed memory, aligned to size. Never fails: boot has checked that there
 * is enough memory. */
typedef void *gstage_alloc_fn(size_t size);

void gstage_init(struct gstage *gs, uint32_t vmid, gstage_alloc_fn *alloc);

/*
 * Maps guest memory as readable, writable and executable. gpa, hpa and size are multiples of
 * GSTAGE_BLOCK. Uses leaves of 1 GiB if both addresses permit. The range must not be mapped yet.
 */
void gstage_map(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, gstage_alloc_fn *alloc);

/*
 * Maps registers of a device as readable and writable, at their own addresses. address and size are
 * multiples of PAGE_SIZE. The pages must not be mapped yet.
 */
void gstage_map_device(struct gstage *gs, uint64_t address, uint64_t size, gstage_alloc_fn *alloc);

/*
 * Maps memory as readable and optionally writable, but never executable. gpa, hpa and size are
 * multiples of PAGE_SIZE. If a multiple of GSTAGE_BLOCK is among the guest addresses, hpa is as far
 * from one. The pages must not be mapped yet.
 */
void gstage_map_data(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, bool writable,
                     gstage_alloc_fn *alloc);

/* Maps one page of registers at another address. The page must not be mapped yet. */
void gstage_map_page(struct gstage *gs, gpa_t gpa, hpa_t hpa, gstage_alloc_fn *alloc);

/* A root table for trials at boot, used by one hart after the other. It maps nothing before and
 * after a trial. */
extern uint64_t gstage_trial[GSTAGE_ROOT_SIZE / 8];

/* Returns the number of VMIDs of this hart, 1 (none) to 16384. At boot only, because it changes
 * hgatp and leaves it Bare. */
uint32_t gstage_vmid_count(void);

#endif
