/* SPDX-License-Identifier: Apache-2.0 */
/* Reports all refusals of a VM tree, not only the first. */
#ifndef CORE_TREE_VM_REFUSALS_H
#define CORE_TREE_VM_REFUSALS_H

#include "core/host/vm_config.h"

/* Refusals that are reported one by one. */
#define VM_REFUSALS_SHOWN 20U

/*
 * Reports each refusal of a tree that vm_config_parse() refused with the same arguments: the first
 * VM_REFUSALS_SHOWN of them, and then, in one more line, the number of the others. A refusal that
 * is, or may be, only a consequence of another one is left out.
 *
 * After each refusal it removes the refused node or property and parses again, so it changes the
 * blob, which must be writable. The time is linear in the size of the blob's structure, times
 * VM_REFUSAL_STEPS at most.
 */
#define VM_REFUSAL_STEPS 96U
void vm_config_refusals(void *blob, uint64_t blob_size, const struct vm_limits *limits,
                        struct vm_tree *tree, void (*tell)(const char *line));

#endif
