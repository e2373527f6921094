/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/sbi.h"
#include "arch/riscv/uart.h"

#define RBR      0
#define THR      0
#define IER      1
#define FCR      2
#define LSR      5
#define IER_RX   0x01
#define FCR_FIFO 0x01
#define LSR_DR   0x01
#define LSR_THRE 0x20

static volatile uint8_t *reg(const struct uart *uart, uint32_t n)
{
	return uart->base + ((size_t)n << uart->shift);
}

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift)
{
	*uart = (struct uart){.base = (volatile uint8_t *)base.a, .shift = reg_shift};
	if (!uart->base)
		return;
	/* The firmware has set the line format and speed. */
	*reg(uart, FCR) = FCR_FIFO;
	uart_listen(uart, true);
}

void uart_listen(const struct uart *uart, bool on)
{
	if (uart->base)
		*reg(uart, IER) = on ? IER_RX : 0;
}

void uart_write(const struct uart *uart, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!uart->base) {
			sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE, (uint8_t)s[i], 0, 0, 0, 0);
			continue;
		}
		while (!(*reg(uart, LSR) & LSR_THRE))
			;
		*reg(uart, THR) = (uint8_t)s[i];
	}
}

int uart_read(const struct uart *uart)
{
	if (!uart->base || !(*reg(uart, LSR) & LSR_DR))
		return -1;
	return *reg(uart, RBR);
}
