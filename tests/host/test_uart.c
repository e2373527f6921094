/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of the console on UARTs that differ in distance and width of their registers, and in
 * what they do beyond an ns16550a. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/devices/uart.h"
#include "arch/riscv/hart/io.h"

#define BASE UINT64_C(0x50900000)

enum { RBR, IER, IIR, LCR, MCR, LSR, USR = 31, REGISTERS };

static struct {
	uint8_t value[REGISTERS];
	uint8_t fcr;
	uint32_t shift, width;
	uint32_t reads_of_data, reads_of_status;
	uint32_t looks;          /* until all is sent; 0: for ever */
	uint32_t in_fifo, fills; /* bytes; with this many its transmitter is not empty */
	char out[64];
	size_t n_out;
} chip;

static uint32_t number(uint64_t address, uint32_t width)
{
	uint64_t n = (address - BASE) >> chip.shift;

	assert_int_equal(width, chip.width);
	assert_true(address >= BASE && n < REGISTERS);
	assert_int_equal(BASE + (n << chip.shift), address);
	return (uint32_t)n;
}

static uint8_t get(uint32_t n)
{
	if (n == RBR) {
		chip.reads_of_data++;
		chip.value[LSR] &= 0xfe;
		if ((chip.value[IIR] & 15) == 12)
			chip.value[IIR] = 1;
	}
	if (n == USR) {
		chip.reads_of_status++;
		if ((chip.value[IIR] & 15) == 7)
			chip.value[IIR] = 1;
	}
	if (n == LSR && chip.looks && !--chip.looks)
		chip.value[LSR] = 0x60;
	return chip.value[n];
}

static void put(uint32_t n, uint32_t value)
{
	assert_true(value < 256);
	assert_true(n == RBR || n == IER || n == IIR);
	if (n == RBR) {
		chip.out[chip.n_out++] = (char)value;
		if (++chip.in_fifo == chip.fills)
			chip.value[LSR] &= 0x9f;
	} else if (n == IIR)
		chip.fcr = (uint8_t)value;
	else
		chip.value[n] = (uint8_t)value;
}

uint8_t io_read8(uint64_t address)
{
	return get(number(address, 1));
}

void io_write8(uint64_t address, uint8_t value)
{
	put(number(address, 1), value);
}

uint32_t io_read32(uint64_t address)
{
	/* The upper bytes are nobody's. */
	return 0xa5a5a500 | get(number(address, 4));
}

void io_write32(uint64_t address, uint32_t value)
{
	put(number(address, 4), value);
}

uint64_t io_read64(uint64_t address)
{
	fail_msg("a read of 64 bits at %lx", (unsigned long)address);
	return 0;
}

void io_write64(uint64_t address, uint64_t value)
{
	fail_msg("a write of 64 bits at %lx: %lx", (unsigned long)address, (unsigned long)value);
}

static struct uart begin(uint32_t shift, uint32_t width, uint8_t ier)
{
	struct uart uart;

	memset(&chip, 0, sizeof(chip));
	chip.shift = shift;
	chip.width = width;
	chip.value[LSR] = 0x60;
	chip.value[IIR] = 1;
	chip.value[IER] = ier;
	uart_init(&uart, (hpa_t){BASE}, shift, width);
	return uart;
}

/* Neither the line's format nor its speed is written: the firmware has set them. */
static void each_distance_and_width(void **state)
{
	static const uint32_t kinds[][2] = {{0, 1}, {2, 1}, {2, 4}, {3, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct uart uart = begin(kinds[i][0], kinds[i][1], 0);

		assert_int_equal(chip.fcr, 1);
		assert_int_equal(chip.value[IER], 1);
		uart_write(&uart, "tally: \xff", 8);
		assert_memory_equal(chip.out, "tally: \xff", 8);
		assert_int_equal(uart_read(&uart), -1);
		chip.value[RBR] = 0xe4;
		chip.value[LSR] |= 1;
		assert_int_equal(uart_read(&uart), 0xe4);
		assert_int_equal(uart_read(&uart), -1);
		assert_int_equal(chip.reads_of_data, 1);
		uart_listen(&uart, false, true);
		assert_int_equal(chip.value[IER], 2);
		uart_listen(&uart, false, false);
		assert_int_equal(chip.value[IER], 0);
	}
}

/* As many bytes as its FIFO has, after one look at its status; and none until it is empty. */
static void a_fifo_is_filled(void **state)
{
	static const char text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

	(void)state;
	for (uint32_t fifo = 1; fifo <= 16; fifo += 15) {
		struct uart uart;

		memset(&chip, 0, sizeof(chip));
		chip.width = 1;
		chip.value[LSR] = 0x60;
		chip.value[IIR] = fifo == 16 ? 0xc1 : 1;
		chip.fills = fifo;
		uart_init(&uart, (hpa_t){BASE}, 0, 1);
		assert_int_equal(uart_put(&uart, text, 3), fifo == 16 ? 3 : 1);
		assert_int_equal(uart_put(&uart, text, 40), fifo == 16 ? 13 : 0);
		assert_int_equal(uart_put(&uart, text, 40), 0);
		assert_int_equal(chip.n_out, fifo);
		chip.value[LSR] = 0x60;
		chip.in_fifo = 0;
		assert_int_equal(uart_put(&uart, text, 40), fifo);
		assert_int_equal(chip.n_out, 2 * fifo);
	}
}

/* In a panic, another hart may have filled the FIFO since: each piece begins with a look. */
static void a_panic_looks_first(void **state)
{
	struct uart uart = begin(0, 1, 0);

	(void)state;
	uart.fifo = 16;
	assert_int_equal(uart_put(&uart, "a", 1), 1);
	chip.value[LSR] = 0;
	chip.looks = 10;
	uart_write(&uart, "b", 1);
	assert_int_equal(chip.looks, 0);
	assert_memory_equal(chip.out, "ab", 2);
}

/* Its FIFO is empty before the last byte has left. One that never says so is not waited for. */
static void the_last_byte_is_sent(void **state)
{
	struct uart uart = begin(0, 1, 0);

	(void)state;
	uart_finish(&uart);
	chip.value[LSR] = 0x20;
	chip.looks = 100;
	uart_finish(&uart);
	assert_int_equal(chip.looks, 0);
	assert_int_equal(chip.value[LSR], 0x60);
	chip.value[LSR] = 0x20;
	uart_finish(&uart);
	uart_finish(&(struct uart){0});
}

/* Its IER turns the UART on. */
static void an_xscale_uart_stays_on(void **state)
{
	struct uart uart = begin(2, 4, 0x57);

	(void)state;
	assert_int_equal(chip.value[IER], 0x41);
	uart_listen(&uart, false, false);
	assert_int_equal(chip.value[IER], 0x40);
}

/* A loader has written LCR while it was busy. */
static void a_busy_interrupt_ends(void **state)
{
	struct uart uart = begin(2, 4, 0);

	(void)state;
	chip.value[IIR] = 0xc7;
	assert_int_equal(uart_read(&uart), -1);
	assert_int_equal(chip.reads_of_status, 1);
	assert_int_equal(chip.value[IIR], 1);
	assert_int_equal(uart_read(&uart), -1);
	assert_int_equal(chip.reads_of_status, 1);
	assert_int_equal(chip.reads_of_data, 0);
}

/* Bytes are said to wait, and none does. */
static void a_timeout_without_bytes_ends(void **state)
{
	struct uart uart = begin(2, 4, 0);

	(void)state;
	chip.value[IIR] = 0xcc;
	assert_int_equal(uart_read(&uart), -1);
	assert_int_equal(chip.reads_of_data, 1);
	assert_int_equal(chip.value[IIR], 1);
	assert_int_equal(uart_read(&uart), -1);
	assert_int_equal(chip.reads_of_data, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_distance_and_width),      cmocka_unit_test(a_fifo_is_filled),
	    cmocka_unit_test(an_xscale_uart_stays_on),      cmocka_unit_test(a_busy_interrupt_ends),
	    cmocka_unit_test(a_timeout_without_bytes_ends), cmocka_unit_test(the_last_byte_is_sent),
	    cmocka_unit_test(a_panic_looks_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
