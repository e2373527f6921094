/* SPDX-License-Identifier: Apache-2.0 */
/* The device tree that a guest under KVM boots with. */
#ifndef GUESTS_KVM_TREE_H
#define GUESTS_KVM_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_SPACE 65536 /* bytes; all that make_tree() writes */

struct tree {
	uint64_t ram_base, ram_size; /* bytes */
	uint64_t initrd, initrd_end; /* addresses; equal: none */
	uint64_t timebase;           /* Hz */
	const char *isa;             /* the host's riscv,isa; what guests cannot have is left out */
	/* In bytes; 0: KVM does not support it. */
	uint32_t cbom_block, cboz_block;
	const char *bootargs;
};

/* Writes the tree to `at`. Returns false if it does not fit. */
bool make_tree(void *at, const struct tree *tree);

#endif
