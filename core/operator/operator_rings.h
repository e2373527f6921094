/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally keeps of an operator's rings. Their doorbell and the end of a life come by
 * core/io/port.h. */
#ifndef CORE_OPERATOR_OPERATOR_RINGS_H
#define CORE_OPERATOR_OPERATOR_RINGS_H

#include "core/lib/types.h"

struct vm;

/* Allocates it for a VM that is an operator. At boot; alloc() returns zeroed memory. */
void operator_rings_make(const struct vm *vm, void *(*alloc)(size_t size));

#endif
