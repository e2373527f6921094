/* SPDX-License-Identifier: Apache-2.0 */
/* The host's ns16550a. Output is polled; input is polled or by interrupt. The caller holds the
 * console lock. */
#ifndef ARCH_UART_H
#define ARCH_UART_H

#include "core/lib/types.h"

struct uart {
	volatile uint8_t *base; /* NULL: there is none, and the firmware's debug console is used */
	uint32_t shift;         /* register n is at base + (n << shift) */
};

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift);
void uart_write(const struct uart *uart, const char *s, size_t n);

/* Enables or disables the interrupt for received bytes. */
void uart_listen(const struct uart *uart, bool on);

/* Returns the next received byte, or -1. */
int uart_read(const struct uart *uart);

#endif
