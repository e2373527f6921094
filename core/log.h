/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's own lines on the serial line, and the lock of that line. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "arch/riscv/devices/uart.h"
#include "core/lib/types.h"

struct ring;

/* Sets the host's UART. uart_base 0 means that there is none; then output goes through the
 * firmware, as it does before this call. Boot hart only. */
void log_init(hpa_t uart_base, uint32_t uart_shift, uint32_t uart_width);

#define LOG_LINE_BYTES 256u /* of the longest line, with its NUL */

/* Logs one line; format has no newline. Any hart may call it, but never for something that a guest
 * can repeat. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a line that is made already. */
void log_text(const char *line);

/* Redirects these lines to a function instead of the serial line, until it is NULL again. Boot hart
 * only, at boot. */
void log_divert(void (*writer)(const char *text));

/* Logs a line for panic(), without the lock, and waits until the line has taken it. */
void log_panic(const char *line);

/* Sets the function that prints these lines between other output. It is called with the lock held.
 * Without it, each line is "tally: " and the text. Boot hart only, before other harts run. */
void log_set_writer(void (*writer)(const char *text));

/* The lock of the serial line. Any hart may take it. The functions below require it. What the
 * holder emits is the output of answers, and goes to a ring (core/console/ring.h). */
void log_lock(void);
void log_unlock(void);
void log_emit(const char *bytes, size_t n);
struct uart *log_uart(void); /* to read input */

/* The same for the output of this writer. The holder may write LOG_PUSH bytes to the UART, twice as
 * many of answers, if that takes them at once. Most output is written then; the rest goes to the
 * ring, and log_unlock() writes more of that within LOG_PUSH. A stay that takes the lock often does
 * so once. */
#define LOG_PUSH 128U
/* If bytes wait already, they go first, and the holder's output goes to the ring, which takes time.
 * A line behind which bytes wait seldom takes more at once. */
#define LOG_PUSH_LATE 16U
void log_lock_for(unsigned int writer);

/* Returns how many bytes the writer may emit; see ring_room(). */
size_t log_room(unsigned int writer);

/* Writes at most `most` more bytes of the ring now, and no others until log_unlock(). A record of
 * the ring counts as LOG_PUSH_RECORD bytes more: it takes 120 to 180 instructions, and a byte 7.
 * Returns whether the UART has taken so many. */
#define LOG_PUSH_RECORD 8U
bool log_push(uint32_t most);

/* Returns the ring, which is empty while it is not used. */
struct ring *log_ring(void);

/* Whether log_push() has to be called again: there is output in the ring, or a VM to be told. */
bool log_has_more(void);

/* From now on the ring is used, with RING_BYTES(n_vms) bytes of memory. Until then, and after
 * log_flush() or log_panic(), output waits for the UART. log_unlock() calls wants() when
 * log_has_more() changes, and each time while it is true; with the lock held. left: the holder has
 * left output in the ring. Boot hart only. */
void log_begin_ring(char *memory, unsigned int n_vms, void (*wants)(bool more, bool left));

/* Writes all that is in the ring, and waits for it. Called without the lock, before the machine
 * goes off. Any hart may call it. */
void log_flush(void);

#endif
