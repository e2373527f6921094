/* SPDX-License-Identifier: Apache-2.0 */
/* The host's UART: an ns16550a, or a compatible one (host_tree_console()). Output is polled; input
 * is polled or by interrupt. The caller holds the console lock. */
#ifndef ARCH_RISCV_DEVICES_UART_H
#define ARCH_RISCV_DEVICES_UART_H

#include "core/lib/types.h"

struct uart {
	uint64_t base;  /* 0: none; the firmware's debug console is used instead */
	uint32_t shift; /* register n is at base + (n << shift) */
	uint32_t width; /* bytes of an access: 1 or 4 */
};

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width);
void uart_write(const struct uart *uart, const char *s, size_t n);

/* Enables or disables the interrupt for received bytes. */
void uart_listen(const struct uart *uart, bool on);

/* Returns the next received byte, or -1. */
int uart_read(const struct uart *uart);

#endif
