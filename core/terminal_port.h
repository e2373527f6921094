/* SPDX-License-Identifier: Apache-2.0 */
/* What VMs and harts need of the terminal, which is above them: core/terminal.c defines it. */
#ifndef CORE_TERMINAL_PORT_H
#define CORE_TERMINAL_PORT_H

#include "core/types.h"

/* What a VM prints, n > 0 bytes, few (bounded stay in HS). Returns how many were taken, at least
 * one; the others have to wait for another stay. Any hart. */
size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n);

/* It prints nothing more, and what is typed is not for it; or it is there again. Any hart. */
void terminal_vm_ended(uint32_t vm, bool ended);

/* A VM's UART has room for so many bytes now, perhaps more than before. Any hart, no lock held. */
void terminal_input_room(size_t space);

/* The host's external interrupt: passes typed bytes on. What the VM in focus has no room for stays
 * in the host's UART, so that pasted text is not lost. Boot hart. */
void terminal_input(void);

/* Host time at which terminal_input() has to be called whatever is typed, because bytes have waited
 * long enough for a VM that does not read, or the prompt goes on printing; ~0: never. Boot hart. */
uint64_t terminal_deadline(void);

#endif
