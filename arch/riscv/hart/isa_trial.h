/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extensions that the host's tree promises, tried on each hart: the tree may be another machine's,
 * and the firmware may keep an extension from HS (menvcfg, mstateen0).
 */
#ifndef ARCH_RISCV_HART_ISA_TRIAL_H
#define ARCH_RISCV_HART_ISA_TRIAL_H

#include "arch/riscv/hart/cbo.h"

/*
 * Returns those of `promised` (BIT(enum isa_ext)) that the calling hart has, as far as Tally uses
 * them; `blocks` are the tree's. Without H no other is tried. Those that are not tried here are in
 * the result: guests alone use them, or hpm_init() tries them. Changes henvcfg. At boot, one hart
 * at a time.
 */
uint64_t isa_tried(uint64_t promised, const struct cbo_blocks *blocks);

/* Whether the calling hart has an interrupt file for HS, as where the host's tree names an IMSIC.
 * At boot. AIA 1.0, section 3.8. */
bool isa_has_imsic(void);

/* Returns why Tally cannot run on the calling hart, which HS may not ask for the time or for what
 * it has executed; NULL: it may. At boot, before anything else. */
const char *isa_kept(void);

#endif
