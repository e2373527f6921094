/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_VM_CHECK_TEXT_H
#define TOOLS_VM_CHECK_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host/vm_config.h"

/* Writes bits as "0,2-18", or for JSON, without ranges, as "0,2,3" and so on. Has one buffer. */
const char *set_list(uint64_t mask, bool ranges);

/* The same of harts: their ids, in the order of the table. Has the same buffer. */
const char *hart_list(const struct vm_harts *harts, uint64_t mask, bool ranges);

#endif
