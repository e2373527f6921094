/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache-block operations for guests: Zicbom, Zicboz, Zicbop. They need no emulation, only henvcfg
 * (vs_state.c) and the block sizes, which are in the host device tree. Tally clears memory with
 * Zicboz.
 */
#ifndef ARCH_RISCV_HART_CBO_H
#define ARCH_RISCV_HART_CBO_H

#include "core/lib/types.h"

/* Block sizes in bytes. 0: the host tree does not say, so nobody can use the extension. */
struct cbo_blocks {
	uint32_t zicbom, zicboz, zicbop;
};

/*
 * The tries of isa_trial.c for Zicbom, Zicboz and Zicbop: each instruction is executed once, and
 * what cbo.zero clears is measured. false: the block size of the host tree is not the hart's, or
 * larger than CBO_MAX_BLOCK bytes.
 */
#define CBO_MAX_BLOCK 1024U
bool cbo_try_m(const struct cbo_blocks *blocks);
bool cbo_try_z(const struct cbo_blocks *blocks);
bool cbo_try_p(const struct cbo_blocks *blocks);

/* Clears memory, by cbo.zero where that works: `block` is its size in bytes, 0: it does not. */
void cbo_clear(void *to, uint64_t size, uint32_t block);

#endif
