/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests at boot whether the hart counts instructions exactly. It compares the counts of sequences
 * that differ by a known number of instructions, so instructions that a hart adds to every sequence
 * (around traps and starts) are no error. The first wrong difference is in hpm->inexact.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_EXACT_H
#define ARCH_RISCV_COUNTERS_HPM_EXACT_H

#include <stdatomic.h>

#include "arch/riscv/counters/hpm.h"

/* Runs sequences in VS-mode. The counter is running, and counts instructions in VS-mode but not in
 * HS-mode. Called by the self-check. */
void hpm_exact_check_vs(struct hpm *hpm, uint32_t hctr);

/*
 * Runs sequences in HS-mode, one in each turn of this hart. *turn is the number of the current
 * turn, 0 at first; a hart ends its turn by adding 1. `harts` (1 or 2) take turns; `me` is the
 * number of this hart's first turn: 0 or 1. pass() is called after each turn with its number, and
 * always executes the same number of instructions. It makes an emulator that runs one hart at a
 * time switch to the other one. Returns false if the other hart did not end its turn in time.
 */
bool hpm_exact_check_hs(struct hpm *hpm, atomic_uint *turn, uint32_t me, uint32_t harts,
                        void (*pass)(uint32_t turn));

/* Called after both tests. If a difference was wrong, guests get no counters, unless `offer`. */
void hpm_exact_settle(struct hpm *hpm, bool offer);

#endif
