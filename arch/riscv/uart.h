/* SPDX-License-Identifier: Apache-2.0 */
/* The host's ns16550a, polled for output; input by interrupt or poll. Console lock held. */
#ifndef ARCH_UART_H
#define ARCH_UART_H

#include "core/lib/types.h"

struct uart {
	volatile uint8_t *base; /* NULL: none, the firmware's debug console is used */
	uint32_t shift;         /* register n is at base + (n << shift) */
};

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift);
void uart_write(const struct uart *uart, const char *s, size_t n);

/* Interrupt when a byte is received, or not. */
void uart_listen(const struct uart *uart, bool on);

/* The next received byte, or -1. */
int uart_read(const struct uart *uart);

#endif
