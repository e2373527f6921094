/* SPDX-License-Identifier: Apache-2.0 */
/* The physical console: Tally's own lines, the guests' output, and what the user types. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "core/types.h"
#include "core/vm_config.h"

/* Before it, output goes through the firmware. */
void log_init(void);

/* From now on guests may print. Boot hart. */
void log_set_vms(const struct vm_tree *tree, bool interactive);

/* One line, without the newline. Any hart. Never for something that a guest can repeat. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As above, from panic: takes no lock. */
void log_panic(const char *line);

/* What a VM prints, n > 0 bytes, few (bounded stay in HS). Returns how many were taken, at least
 * one; the others have to wait for another stay. */
size_t log_vm(uint32_t vm, const char *bytes, size_t n);

/* It prints nothing more, and what is typed is not for it; or it is there again. */
void log_vm_ended(uint32_t vm, bool ended);

/* The host's external interrupt: passes typed bytes on. What the VM in focus has no room for stays
 * in the host's UART, so that pasted text is not lost. */
void log_input(void);

/* A VM's UART has room for so many bytes now, perhaps more than before. No lock held. */
void log_input_room(size_t space);

/* Host time at which input must be read whatever becomes of it, or the prompt goes on printing; ~0:
 * nothing waits. A VM that never reads must not keep the keys for Tally from being heard.
 * log_input() does both. Boot hart. */
uint64_t log_input_deadline(void);

/* Interrupts of the console go to this hart. */
void log_enable_input(void);

#endif
