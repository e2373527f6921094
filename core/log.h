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

/* What VM prints, n bytes; the caller keeps n small (bounded stay in HS). */
void log_vm(uint32_t vm, const char *bytes, size_t n);
void log_vm_ended(uint32_t vm);

/* The host's external interrupt: passes typed bytes on. */
void log_input(void);

/* Interrupts of the console go to this hart. */
void log_enable_input(void);

#endif
