/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries at boot whether the hart counts instructions as they are. It compares the counts of
 * sequences that differ by a known number of instructions, so what a hart adds to each sequence
 * (around traps and starts) is no error. The first difference that is wrong is in hpm->inexact.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_EXACT_H
#define ARCH_RISCV_COUNTERS_HPM_EXACT_H

#include <stdatomic.h>

#include "arch/riscv/counters/hpm.h"

/* Runs sequences in VS-mode. The counter counts instructions in VS-mode and not in HS-mode, and
 * runs. Called by the self-check. */
void hpm_exact_alone(struct hpm *hpm, uint32_t hctr);

/*
 * Runs sequences in HS-mode, one each time that *turn says that it is this hart's turn, and then
 * hands over. `harts` of them (1 or 2) take part; `me` is 0 for the one that begins, or 1. *turn is
 * 0 before. pass() is called behind each handing over with the number of the turn that is over, and
 * always executes the same number of instructions. It makes an emulator that runs one hart at a
 * time go to another one.
 * Returns false if the other hart did not come.
 */
bool hpm_exact_turns(struct hpm *hpm, atomic_uint *turn, uint32_t me, uint32_t harts,
                     void (*pass)(uint32_t turn));

/* Ends both. Takes all counters away if a difference was wrong, unless they are to be offered
 * nevertheless. */
void hpm_exact_settle(struct hpm *hpm, bool offer);

#endif
