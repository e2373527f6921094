/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_VM_CHECK_TEXT_H
#define TOOLS_VM_CHECK_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host/vm_config.h"

#define ID_BYTES 48U

/* Writes a hart's id: in decimal, as vm-check's JSON, the names of schedules and boot have it, and
 * from 0x100 on in hexadecimal as well, as "65536 (0x10000)". Returns text. */
const char *id_text(uint64_t id, char text[ID_BYTES]);

/* Returns what stands between the first and the last number of a range, as in "0 to 7" and "0, 1".
 * NULL: they are one. */
const char *range_end(uint64_t first, uint64_t last);

/* Writes bits as "0, 2 to 18", or for JSON as "0,2,3" and so on. Has one buffer for each. */
const char *set_list(uint64_t mask, bool json);

/* The same of harts: their ids, in the order of the table. Has the same buffers. */
const char *hart_list(const struct vm_harts *harts, uint64_t mask, bool json);

/* Returns the names of VMs as a list, or for JSON as strings. */
const char *names_of(const struct vm_tree *tree, uint32_t mask, bool json);

/* Returns a size in words. Has two buffers, for two calls in one statement. */
const char *human(uint64_t bytes);

#endif
