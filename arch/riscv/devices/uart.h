/* SPDX-License-Identifier: Apache-2.0 */
/* The host's UART: an ns16550a, or a compatible one (host_tree_console()). Output and input are
 * polled or by interrupt. The caller holds the console lock. */
#ifndef ARCH_RISCV_DEVICES_UART_H
#define ARCH_RISCV_DEVICES_UART_H

#include "core/lib/types.h"

struct uart {
	uint64_t base;  /* 0: none; the firmware's debug console is used instead */
	uint32_t shift; /* register n is at base + (n << shift) */
	uint32_t width; /* bytes of an access: 1 or 4 */
	/* The bytes that it takes when its transmitter is empty: 16, or 1 without FIFO; how many of
	 * them it still takes without a look at its status. */
	uint32_t fifo, taken;
};

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width);

/* Writes the first bytes of n that the UART takes without waiting, and returns how many. It is
 * accessed at most n + n / 16 + 1 times, or 2 n + 1 times without FIFO. The firmware takes all, and
 * may wait. */
size_t uart_put(struct uart *uart, const char *s, size_t n);

/* Writes all, and waits until the UART has taken them. */
void uart_write(struct uart *uart, const char *s, size_t n);

/* Waits until all is on the line, but not for ever. Without it, a reset loses what the UART has
 * taken last. */
void uart_finish(const struct uart *uart);

/* Enables or disables the interrupts for received bytes and for an empty transmitter. */
void uart_listen(const struct uart *uart, bool received, bool empty);

/* Returns the next received byte, or -1. */
int uart_read(const struct uart *uart);

#endif
