/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check says of the host's harts: which of them are alike, and which are not used. */
#ifndef TOOLS_VM_CHECK_HARTS_H
#define TOOLS_VM_CHECK_HARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host/vm_config.h"

/* Prints groups of harts that are alike, as far as the host's tree shows it: as lines, or as JSON's
 * array. */
void print_harts(const void *tree);
void print_json_harts(const void *tree);

/* Returns why Tally does not use a hart. NULL: it does, or the tree has none with this id. */
const char *hart_unused(const void *tree, uint64_t hartid);

/* Whether two harts of the tree, by their ids, have the same extensions there. */
bool harts_alike(const void *tree, uint64_t hartid, uint64_t other);

/* Prints the extensions that a VM lacks because not all harts of its vcpus have them, or have other
 * block sizes: as a line, if there are any, or as JSON's array with its name. */
void print_lacks(const void *tree, const struct vm_config *vm, const struct vm_harts *harts);
void print_json_lacks(const void *tree, const struct vm_config *vm, const struct vm_harts *harts);

#endif
