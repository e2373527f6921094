/* SPDX-License-Identifier: Apache-2.0 */
/* What VMs and harts need of the terminal, which is above them: core/terminal.c defines it. */
#ifndef CORE_TERMINAL_PORT_H
#define CORE_TERMINAL_PORT_H

#include "core/types.h"

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

/* The host's external interrupt: passes typed bytes on. What the VM in focus has no room for stays
 * in the host's UART, so that pasted text is not lost. Boot hart. */
void terminal_input(void);

/* Host time at which terminal_input() has to be called whatever is typed, because bytes have waited
 * long enough for a VM that does not read, or the prompt goes on printing; ~0: never. Boot hart. */
uint64_t terminal_deadline(void);

#endif
