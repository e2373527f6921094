/* SPDX-License-Identifier: Apache-2.0 */
/* The resident vcpu's context is not in a register here. */
#ifndef HOST_TRAP_H
#define HOST_TRAP_H

#include_next "arch/riscv/hart/trap.h"

struct guest_context *this_context(void);

#endif
