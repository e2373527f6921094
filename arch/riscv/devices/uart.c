/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/uart.h"
#include "arch/riscv/hart/io.h"
#include "arch/riscv/hart/sbi.h"

#define RBR      0U
#define THR      0U
#define IER      1U
#define IIR      2U
#define FCR      2U
#define LSR      5U
#define USR      31U /* DesignWare: status; reading it ends IIR_BUSY */
#define IER_RX   0x01U
#define IER_TX   0x02U
#define IER_UUE  0x40U /* XScale: the UART is on; reads as 0 elsewhere */
#define FCR_FIFO 0x01U
#define LSR_DR   0x01U
#define LSR_THRE 0x20U
#define LSR_TEMT 0x40U
#define IIR_ID   0x0fU
#define IIR_FIFO 0xc0U /* both bits: FIFOs of at least 16 bytes are on and work */
#define IIR_BUSY 0x07U /* DesignWare: LCR was written while the UART was busy, as loaders do */
#define IIR_TIME 0x0cU /* received bytes have been waiting for a while */

/* Looks at a UART that is to send its last bytes: 50 ns each at least, so that 17 bytes can be sent
 * at 9,600 baud. */
#define LAST_LOOKS 1000000U

static uint8_t get(const struct uart *uart, uint32_t n)
{
	uint64_t at = uart->base + ((uint64_t)n << uart->shift);

	return uart->width == 4 ? (uint8_t)io_read32(at) : io_read8(at);
}

static void put(const struct uart *uart, uint32_t n, uint8_t value)
{
	uint64_t at = uart->base + ((uint64_t)n << uart->shift);

	if (uart->width == 4)
		io_write32(at, value);
	else
		io_write8(at, value);
}

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width)
{
	*uart = (struct uart){.base = base.a, .shift = reg_shift, .width = io_width};
	if (!uart->base)
		return;
	/* The firmware has set the line format and speed. */
	put(uart, FCR, FCR_FIFO);
	uart->fifo = (get(uart, IIR) & IIR_FIFO) == IIR_FIFO ? 16 : 1;
	uart_listen(uart, true, false);
}

void uart_listen(const struct uart *uart, bool received, bool empty)
{
	if (uart->base)
		put(uart, IER,
		    (get(uart, IER) & IER_UUE) | (received ? IER_RX : 0) | (empty ? IER_TX : 0));
}

static void send(const struct uart *uart, const char *s, size_t n)
{
	uint64_t at = uart->base + ((uint64_t)THR << uart->shift);
	const char *end = s + n;

	if (uart->width == 4) {
		for (; s < end; s++)
			io_write32(at, (uint8_t)*s);
	} else {
		for (; s < end; s++)
			io_write8(at, (uint8_t)*s);
	}
}

size_t uart_put(struct uart *uart, const char *s, size_t n)
{
	/* Kept here, because in a panic another hart may be writing, too. */
	size_t taken = uart->taken, done = 0;

	for (; !uart->base && done < n; done++)
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE, (uint8_t)s[done], 0, 0, 0, 0);
	while (done < n) {
		size_t now;

		if (!taken && get(uart, LSR) & LSR_THRE)
			taken = uart->fifo;
		if (!taken)
			break;
		now = n - done < taken ? n - done : taken;
		send(uart, s + done, now);
		done += now;
		taken -= now;
	}
	uart->taken = (uint32_t)taken;
	return done;
}

void uart_write(struct uart *uart, const char *s, size_t n)
{
	for (size_t done = 0; done < n;) { /* WAITS */
		uart->taken = 0;
		done += uart_put(uart, s + done, n - done);
	}
}

__attribute__((cold)) void uart_finish(const struct uart *uart)
{
	for (uint32_t i = 0; uart->base && i < LAST_LOOKS; i++) { /* WAITS */
		if (get(uart, LSR) & LSR_TEMT)
			return;
	}
}

/* Clears interrupts of a DesignWare UART that no byte has caused. They would never end. An ns16550a
 * has no such interrupts. */
static void settle(const struct uart *uart)
{
	uint8_t id = get(uart, IIR) & IIR_ID;

	if (id == IIR_BUSY && uart->shift >= 2)
		(void)get(uart, USR);
	if (id == IIR_TIME && !(get(uart, LSR) & LSR_DR))
		(void)get(uart, RBR);
}

int uart_read(const struct uart *uart)
{
	if (!uart->base)
		return -1;
	if (get(uart, LSR) & LSR_DR)
		return get(uart, RBR);
	settle(uart);
	return -1;
}
