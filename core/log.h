/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally itself says on the serial line, and the lock of that line. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "arch/riscv/uart.h"
#include "core/lib/types.h"

/* The host's UART, base 0: there is none, output goes through the firmware, as it does before this
 * call. Boot hart. */
void log_init(hpa_t uart_base, uint32_t uart_shift);

/* One line, without the newline. Any hart. Never for something that a guest can repeat. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As above, from panic: takes no lock. */
void log_panic(const char *line);

/* Who writes these lines, among others' output; called with the lock held. Without one each is
 * "tally: " and its text. Boot hart, before other harts run. */
void log_set_writer(void (*writer)(const char *text));

/* The lock of the serial line: any hart. With it held: */
void log_lock(void);
void log_unlock(void);
void log_emit(const char *bytes, size_t n);
const struct uart *log_uart(void); /* for who reads it */

#endif
