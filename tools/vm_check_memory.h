/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check knows of the machine's RAM, and prints of what lies where. */
#ifndef TOOLS_VM_CHECK_MEMORY_H
#define TOOLS_VM_CHECK_MEMORY_H

#include "core/config/vm_config.h"

/* RAM in one piece, with Tally at its start. */
struct vm_ram one_bank(uint64_t base, uint64_t size);

/* The RAM of a host's tree that Tally uses, and where Tally's image begins, of which the size does
 * not matter. n 0: there is none. */
struct vm_ram host_memory(const void *tree, struct vm_range *image);

/* Whether the tree keeps memory that Tally needs. If not, the bank with the VM tree ends before
 * what is kept at its end. */
bool host_memory_is_kept(const void *tree, struct vm_range image, uint64_t tree_size,
                         struct vm_ram *ram);

/* Prints where the memory of a VM lies, or that of all shared memory, as lines. */
void print_places(const struct vm_config *vm);
void print_shared_places(const struct vm_tree *tree);

/* Prints what lies in each bank as lines, or as a member of a JSON object. */
void print_banks(const struct vm_tree *tree, const struct vm_limits *limits);
void print_json_banks(const struct vm_tree *tree, const struct vm_limits *limits);

#endif
