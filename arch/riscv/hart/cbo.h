/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache-block operations for guests: Zicbom, Zicboz, Zicbop. They need no emulation, only henvcfg
 * (vs_state.c) and the block sizes, which are in the host device tree. Tally clears memory with
 * Zicboz.
 */
#ifndef ARCH_RISCV_HART_CBO_H
#define ARCH_RISCV_HART_CBO_H

#include "core/lib/types.h"

/* Block sizes in bytes. 0: not in the host tree, so neither guests nor HS use the extension. */
struct cbo_blocks {
	uint32_t zicbom, zicboz, zicbop;
};

/*
 * The trials of isa_trial.c for Zicbom, Zicboz and Zicbop: each instruction is executed once, and
 * the size of the block that cbo.zero clears is measured. false: the block size in the host tree is
 * wrong, or larger than CBO_MAX_BLOCK bytes.
 */
#define CBO_MAX_BLOCK 1024U
bool cbo_try_m(const struct cbo_blocks *blocks);
bool cbo_try_z(const struct cbo_blocks *blocks);
bool cbo_try_p(const struct cbo_blocks *blocks);

/* Clears memory, with cbo.zero if it works: `block` is its block size in bytes; 0: it does not. */
void cbo_clear(void *to, uint64_t size, uint32_t block);

#endif
