/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's own lines on the serial line, and the lock of that line. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "arch/riscv/devices/uart.h"
#include "core/lib/types.h"

/* Sets the host's UART. uart_base 0 means that there is none; then output goes through the
 * firmware, as it does before this call. Boot hart only. */
void log_init(hpa_t uart_base, uint32_t uart_shift, uint32_t uart_width);

/* Logs one line; format has no newline. Any hart may call it, but never for something that a guest
 * can repeat. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a line that is made already. */
void log_text(const char *line);

/* Redirects these lines to a function instead of the serial line, until it is NULL again. Boot hart
 * only, at boot. */
void log_divert(void (*writer)(const char *text));

/* Logs a line for panic(), without the lock. */
void log_panic(const char *line);

/* Sets the function that prints these lines between other output. It is called with the lock held.
 * Without it, each line is "tally: " and the text. Boot hart only, before other harts run. */
void log_set_writer(void (*writer)(const char *text));

/* The lock of the serial line. Any hart may take it. log_emit() and log_uart() require it. */
void log_lock(void);
void log_unlock(void);
void log_emit(const char *bytes, size_t n);
const struct uart *log_uart(void); /* to read input */

#endif
