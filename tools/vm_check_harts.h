/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check says of the host's harts: which of them are alike, and which are not used. */
#ifndef TOOLS_VM_CHECK_HARTS_H
#define TOOLS_VM_CHECK_HARTS_H

#include <stdbool.h>
#include <stdint.h>

/* Prints groups of harts that are alike, as far as the host's tree shows it: as lines, or as JSON's
 * array. */
void print_harts(const void *tree);
void print_json_harts(const void *tree);

/* Returns why Tally does not use a hart. NULL: it does, or the tree has none with this id. */
const char *hart_unused(const void *tree, uint64_t hartid);

/* Whether two harts of the tree, by their ids, have the same extensions there. */
bool harts_alike(const void *tree, uint64_t hartid, uint64_t other);

#endif
