/* SPDX-License-Identifier: Apache-2.0 */
/* G-stage translation, Sv39x4: one table a VM, made at boot and constant afterwards. */
#ifndef ARCH_GSTAGE_H
#define ARCH_GSTAGE_H

#include "core/lib/types.h"

#define GSTAGE_ROOT_SIZE KIB(16) /* and so aligned */
#define GSTAGE_BLOCK     MIB(2)  /* granule of guest memory */

struct gstage {
	uint64_t *root;
	uint64_t hgatp;
};

/* size bytes of zeroed memory, aligned to size; never fails (boot time, checked budget). */
typedef void *gstage_alloc_fn(size_t size);

void gstage_init(struct gstage *gs, uint32_t vmid, gstage_alloc_fn *alloc);

/*
 * Maps guest memory, readable, writable and executable. gpa, hpa and size are multiples of
 * GSTAGE_BLOCK; 1 GiB leaves are used where both addresses allow. The range is not mapped yet.
 */
void gstage_map(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, gstage_alloc_fn *alloc);

/* How many VMIDs this hart tells apart: 1 (none) to 16384. Needs hgatp for a moment, and leaves it
 * Bare: at boot. */
uint32_t gstage_vmid_count(void);

#endif
