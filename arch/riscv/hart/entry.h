/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that entry.S enters, defined in core/boot/main.c. They do not return. */
#ifndef ARCH_RISCV_HART_ENTRY_H
#define ARCH_RISCV_HART_ENTRY_H

#include "core/lib/types.h"

/* The boot hart, with its id and the device tree that the firmware gave it. */
void main(uint64_t hartid, void *dtb);

/* Each other hart, with its id and its index in hart_stacks[] (core/hart/pcpu.h), where entry.S
 * finds a hart's stack. */
void secondary_main(uint64_t hartid, uint64_t index);

#endif
