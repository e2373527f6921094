/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to the terminal, a higher room: core/operator/terminal.c defines these functions. */
#ifndef CORE_VCPU_TERMINAL_PORT_H
#define CORE_VCPU_TERMINAL_PORT_H

#include "core/lib/types.h"

/*
 * Prints n bytes of a VM's output. n must be small, to keep the stay in HS short. Returns the
 * number of bytes printed, which is at least one if n > 0. The caller prints the rest in a later
 * stay. Any hart may call it.
 */
size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n);

/*
 * A VM has ended (true) or starts again (false). After its end it prints nothing and gets no input.
 * Any hart may call it.
 */
void terminal_vm_ended(uint32_t vm, bool ended);

#endif
