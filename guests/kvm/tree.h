/* SPDX-License-Identifier: Apache-2.0 */
/* The device tree that a guest under KVM boots with. */
#ifndef GUESTS_KVM_TREE_H
#define GUESTS_KVM_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_SPACE 65536 /* bytes; all that make_tree() writes */

/* Writes the tree to `at`. RAM in bytes, timebase in Hz. False: it does not fit. */
bool make_tree(void *at, uint64_t ram_base, uint64_t ram_size, uint64_t timebase,
               const char *bootargs);

#endif
