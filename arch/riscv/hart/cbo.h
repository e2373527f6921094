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
 * For the trials of isa_trial.c: whether a block may have this size; executes each instruction of
 * Zicbom once; whether cbo.zero clears exactly one block of this size.
 */
#define CBO_MAX_BLOCK 1024U
bool cbo_is_block(uint32_t size);
void cbo_try_all(void);
bool cbo_zeroes(uint32_t size);

/* Clears memory, with cbo.zero if it works: `block` is its block size in bytes; 0: it does not. */
void cbo_clear(void *to, uint64_t size, uint32_t block);

#endif
