/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_HPM_SELFCHECK_H
#define ARCH_HPM_SELFCHECK_H

#include "arch/riscv/hpm.h"

/*
 * For hpm_probe.c, at boot: nothing of a guest's is on the hart, sie is 0, events have their
 * counters, and hpm->delegated says which back end drives these. It may be taken back, LCOFI may
 * be, and events may lose their counters: why is left in undelegated, no_overflow and fault, to be
 * read after "hart 0 has". patience: how long an overflow may take, in ticks of time.
 */
void hpm_selfcheck(struct hpm *hpm, uint64_t patience);

/*
 * Does the counter take the event, take a value, stand still in HS and M, and stop? Of cycles and
 * instructions also: does it count VS and VU, and each of them alone? NULL: all of that; else what
 * the hart has instead. The counter is stopped afterwards and holds what it was tried with.
 */
const char *hpm_selfcheck_event(struct hpm *hpm, uint32_t event_idx, uint32_t hctr);

#endif
