/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache-block operations for guests: Zicbom, Zicboz, Zicbop. They need no emulation, only henvcfg
 * (vs_state.c), and the sizes of the blocks, which the host tree tells.
 */
#ifndef ARCH_CBO_H
#define ARCH_CBO_H

#include "core/lib/types.h"

/* Bytes; 0: the tree does not say, so nobody can use them. */
struct cbo_blocks {
	uint32_t zicbom, zicboz, zicbop;
};

/*
 * Those of isa (BIT(enum isa_ext)) that this hart does as the tree says: each instruction is
 * executed once, and what cbo.zero clears is measured. Not those with a block of more than
 * CBO_MAX_BLOCK bytes. At boot, one hart at a time.
 */
#define CBO_MAX_BLOCK 1024U
uint64_t cbo_probe(uint64_t isa, const struct cbo_blocks *blocks);

#endif
