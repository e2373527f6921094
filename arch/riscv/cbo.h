/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache-block operations for guests: Zicbom, Zicboz, Zicbop. They need no emulation, only henvcfg
 * (vs_state.c) and the block sizes, which are in the host device tree. Tally clears memory with
 * Zicboz.
 */
#ifndef ARCH_CBO_H
#define ARCH_CBO_H

#include "core/lib/types.h"

/* Block sizes in bytes. 0: the host tree does not say, so nobody can use the extension. */
struct cbo_blocks {
	uint32_t zicbom, zicboz, zicbop;
};

/*
 * Returns those extensions of `isa` (BIT(enum isa_ext)) that work on this hart with the block sizes
 * of the host tree. Each instruction is executed once, and what cbo.zero clears is measured. Blocks
 * larger than CBO_MAX_BLOCK bytes are not supported. At boot, one hart at a time.
 */
#define CBO_MAX_BLOCK 1024U
uint64_t cbo_probe(uint64_t isa, const struct cbo_blocks *blocks);

/* Clears memory, by cbo.zero where that works: `block` is its size in bytes, 0: it does not. */
void cbo_clear(void *to, uint64_t size, uint32_t block);

#endif
