/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of an operator's function to core/operator, a higher room: operator_rings.c there. */
#ifndef CORE_IO_PORT_H
#define CORE_IO_PORT_H

#include "core/lib/types.h"

struct vm;

/* The resident vcpu's guest has rung the doorbell of its function. The requests in its ring are
 * served before its next instruction. */
void operator_rung(void);

/* Makes a step between two lives: gives back what the operator had, and clears its rings. Returns
 * false if nothing is left to do. Lead hart only. No effect for other VMs. */
bool operator_rest(struct vm *vm);

#endif
