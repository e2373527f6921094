/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check knows of the machine's RAM, and prints of what lies where. */
#ifndef TOOLS_VM_CHECK_MEMORY_H
#define TOOLS_VM_CHECK_MEMORY_H

#include "core/host/vm_config.h"

/* RAM in one piece, with Tally at its start. */
struct vm_ram one_bank(uint64_t base, uint64_t size);

#define RAM_NOT_GIVEN UINT64_MAX /* more than any machine has */

/* What the user has told of the machine's RAM, or RAM_NOT_GIVEN. */
struct ram_options {
	uint64_t board_ram; /* as BOARD_RAM of the Makefile: Tally lies 2 MiB above it */
	uint64_t size;      /* bytes */
	uint64_t tree_at;   /* where the boot loader puts the VM tree */
};

/* Finds the RAM of a host's tree that Tally uses beside a VM tree of `tree_size` bytes. Returns why
 * Tally cannot run there, in boot's words until the next call, or NULL. */
const char *host_memory(const void *tree, const struct ram_options *given, uint64_t tree_size,
                        struct vm_ram *ram);

/* Returns the VM tree's place: the given one, or that of the host's tree (/chosen), or QEMU's.
 * `ram` is the RAM that Tally uses; tree is NULL if there is no host's tree. */
struct vm_range tree_place(const void *tree, const struct ram_options *given, uint64_t tree_size,
                           const struct vm_ram *ram);

/* Prints the VM tree's place, and the largest VM that fits beside its VMs, as a line or as members
 * of a JSON object. */
void print_tree_place(const struct vm_tree *tree, const struct vm_limits *limits,
                      const struct vm_range *blob);
void print_json_tree_place(const struct vm_tree *tree, const struct vm_limits *limits,
                           const struct vm_range *blob);

/* Prints where the memory of a VM lies, or that of all shared memory, as lines. */
void print_places(const struct vm_config *vm);
void print_shared_places(const struct vm_tree *tree);

/* Prints what lies in each bank, which RAM is not used, and for which RAM Tally is to be built, as
 * lines, or as members of a JSON object. After host_memory(). */
void print_banks(const struct vm_tree *tree, const struct vm_limits *limits);
void print_json_banks(const struct vm_tree *tree, const struct vm_limits *limits);

#endif
