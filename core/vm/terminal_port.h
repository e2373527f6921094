/* SPDX-License-Identifier: Apache-2.0 */
/* What VMs need of the terminal, which is above them: core/operator/terminal.c defines it. */
#ifndef CORE_VM_TERMINAL_PORT_H
#define CORE_VM_TERMINAL_PORT_H

#include "core/lib/types.h"

/*
 * Prints n > 0 bytes of a VM's output. n must be small, to keep the stay in HS short. Returns
 * how many were printed, at least one; the caller passes the others in a later stay. Any hart.
 */
size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n);

/*
 * A VM has ended, or begun again: while it is over, it prints nothing and typed bytes do not go
 * to it. Any hart.
 */
void terminal_vm_ended(uint32_t vm, bool ended);

/*
 * A VM's UART now has room for this many bytes, which may be more than before. Any hart, no lock
 * held.
 */
void terminal_input_room(size_t space);

#endif
