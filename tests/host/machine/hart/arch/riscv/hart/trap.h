/* SPDX-License-Identifier: Apache-2.0 */
/* The resident vcpu's context is not in a register here. */
#ifndef MACHINE_TRAP_H
#define MACHINE_TRAP_H

#define this_context context_in_tp
#include_next "arch/riscv/hart/trap.h"
#undef this_context

struct guest_context *this_context(void);

#endif
