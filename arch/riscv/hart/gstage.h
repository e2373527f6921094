/* SPDX-License-Identifier: Apache-2.0 */
/* G-stage translation with Sv39x4: one table per VM, created at boot and constant afterwards. */
#ifndef ARCH_RISCV_HART_GSTAGE_H
#define ARCH_RISCV_HART_GSTAGE_H

#include "arch/riscv/hart/pte.h"

#define GSTAGE_ROOT_SIZE KIB(16) /* also its alignment */

struct gstage {
	uint64_t *root;
	uint64_t hgatp;
};

void gstage_init(struct gstage *gs, uint32_t vmid, pte_alloc_fn *alloc);

/* Map pages, with larger leaves where they fit; none may be mapped yet. gstage_map(): readable,
 * writable and executable memory. gstage_map_data(): memory or registers of devices, readable and
 * optionally writable. */
void gstage_map(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, pte_alloc_fn *alloc);
void gstage_map_data(struct gstage *gs, gpa_t gpa, hpa_t hpa, uint64_t size, bool writable,
                     pte_alloc_fn *alloc);

/* A root table for trials at boot, used by one hart after the other. It maps nothing before and
 * after a trial. */
extern uint64_t gstage_trial[GSTAGE_ROOT_SIZE / 8];

/* Returns the number of VMIDs of this hart, 1 (none) to 16384. At boot only, because it changes
 * hgatp and leaves it Bare. */
uint32_t gstage_vmid_count(void);

#endif
