/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests on each hart of the extensions that the host's tree promises: the tree may be that of
 * another machine, and the firmware may withhold an extension from HS (menvcfg, mstateen0).
 */
#ifndef ARCH_RISCV_HART_ISA_TRIAL_H
#define ARCH_RISCV_HART_ISA_TRIAL_H

#include "arch/riscv/hart/cbo.h"

/*
 * Returns those extensions of `promised` (BIT(enum isa_ext)) that the calling hart has, as far as
 * Tally uses them; `blocks` are the tree's. Without H no other extension is tested. Extensions that
 * are not tested here stay in the result: only guests use them, or hpm_init() tests them. Changes
 * henvcfg. At boot, one hart at a time.
 */
uint64_t isa_probe(uint64_t promised, const struct cbo_blocks *blocks);

/* Whether the calling hart has an interrupt file for HS, as it should if the host's tree has an
 * IMSIC. At boot. AIA 1.0, section 3.8. */
bool isa_has_imsic(void);

/* Returns why Tally cannot run on the calling hart: HS may not read time or instret there; NULL: it
 * may. At boot, before anything else. */
const char *isa_refusal(void);

#endif
