/* SPDX-License-Identifier: Apache-2.0 */
/* The device trees of the guests of a VM tree that was accepted. */
#ifndef TESTS_FUZZ_GUEST_TREE_H
#define TESTS_FUZZ_GUEST_TREE_H

#include "core/host/vm_config.h"

/* Makes the tree of each VM, for a machine that `chance` chooses, and fails by cmocka's assertions
 * if one is not what its VM has. */
void check_guest_trees(const struct vm_tree *tree, uint64_t chance);

#endif
