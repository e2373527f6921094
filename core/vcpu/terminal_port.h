/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to the terminal, a higher room: core/operator/terminal.c defines these functions. */
#ifndef CORE_VCPU_TERMINAL_PORT_H
#define CORE_VCPU_TERMINAL_PORT_H

#include "core/lib/types.h"

/*
 * Prints n bytes of a VM's output. n must be small, to keep the stay in HS short. Returns the
 * number of bytes printed: 0 if the VM's share of the output is full, which leaves room for its
 * UART. The caller prints the rest in a later stay. Any hart may call it.
 */
size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n);

/* Prints a byte that the VM's UART sends. Returns false if there is no room. Sets *full if there
 * is not enough for any 16 bytes now. Any hart may call it. */
bool terminal_vm_put(uint32_t vm, char byte, bool *full);

/* As log_text(), but if there is no room for the line, it is not lost: returns false. Any hart may
 * call it. */
bool terminal_log(const char *line);

/* Whether the VM's share has fewer than `least` free bytes (core/console/ring.h). If so,
 * vm_output_room() is called when it has more, maybe on another hart. Any hart may call it. */
bool terminal_vm_waits(uint32_t vm, size_t least);

/*
 * A VM has ended (true) or starts again (false). After its end it prints nothing and gets no input.
 * Any hart may call it.
 */
void terminal_vm_ended(uint32_t vm, bool ended);

#endif
