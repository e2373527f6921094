/* SPDX-License-Identifier: Apache-2.0 */
/* The UART as drivers see it: what Linux's 8250 driver tries before it believes in a 16550A, and
 * the rules of its interrupt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/devices/vuart.h"

/* Numbers of the data sheet, not those of the code under test. */
enum { RBR, IER, IIR, LCR, MCR, LSR, MSR, SCR };
#define THR RBR
#define FCR IIR

static struct vuart u;

static int setup(void **state)
{
	(void)state;
	memset(&u, 0xa5, sizeof(u));
	vuart_init(&u);
	return 0;
}

static uint8_t rd(uint32_t reg)
{
	return vuart_read(&u, reg);
}

/* A write that must not transmit. */
static void wr(uint32_t reg, uint8_t value)
{
	uint8_t tx = 0x5a;

	assert_false(vuart_write(&u, reg, value, &tx));
	assert_int_equal(tx, 0x5a);
}

static void send(uint8_t value)
{
	uint8_t tx = (uint8_t)~value;

	assert_true(vuart_write(&u, THR, value, &tx));
	assert_int_equal(tx, value);
}

/* Returns how many bytes were taken. */
static size_t take(const uint8_t *bytes, size_t n)
{
	size_t before = vuart_rx_space(&u);

	for (size_t i = 0; i < n; i++)
		vuart_rx(&u, bytes[i]);
	return before - vuart_rx_space(&u);
}

static void receive(const char *s)
{
	assert_int_equal(take((const uint8_t *)s, strlen(s)), strlen(s));
}

static void reset_values(void **state)
{
	(void)state;
	assert_int_equal(rd(RBR), 0);
	assert_int_equal(rd(IER), 0);
	assert_int_equal(rd(IIR), 0x01);
	assert_int_equal(rd(LCR), 0);
	assert_int_equal(rd(MCR), 0);
	assert_int_equal(rd(LSR), 0x60);
	assert_int_equal(rd(MSR), 0xb0);
	assert_int_equal(rd(SCR), 0);
	assert_false(vuart_irq(&u));
	assert_int_equal(vuart_rx_space(&u), 4096);
}

static void registers_keep_their_bits(void **state)
{
	(void)state;
	for (unsigned int v = 0; v < 256; v++) {
		wr(SCR, (uint8_t)v);
		assert_int_equal(rd(SCR), v);
		wr(LCR, (uint8_t)v);
		assert_int_equal(rd(LCR), v);
		wr(MCR, (uint8_t)v);
		assert_int_equal(rd(MCR), v & 0x1f);
		wr(LCR, 0);
		wr(IER, (uint8_t)v);
		assert_int_equal(rd(IER), v & 0x0f);
	}
	wr(MCR, 0);
	wr(LSR, 0xff);
	wr(MSR, 0xff);
	assert_int_equal(rd(LSR), 0x60);
	assert_int_equal(rd(MSR), 0xb0);
}

static void divisor_latch(void **state)
{
	(void)state;
	wr(IER, 0x05);
	wr(LCR, 0x83);
	/* A driver that keeps the rate it finds divides by this. */
	assert_int_equal(rd(0), 2);
	assert_int_equal(rd(1), 0);
	wr(0, 0x34);
	wr(1, 0x12);
	assert_int_equal(rd(0), 0x34);
	assert_int_equal(rd(1), 0x12);
	receive("x");
	assert_int_equal(rd(0), 0x34);
	wr(LCR, 0x03);
	assert_int_equal(rd(IER), 0x05);
	assert_int_equal(rd(RBR), 'x');
}

static void outside_the_registers(void **state)
{
	static const uint32_t offsets[] = {8, 9, 0xff, 0x100, 0x80000000, 0xffffffff};

	(void)state;
	receive("x");
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		wr(offsets[i], 0xff);
		assert_int_equal(rd(offsets[i]), 0);
	}
	assert_int_equal(rd(RBR), 'x');
}

/* Existence and loopback tests, then the search for chips with more than a 16550A has. */
static void autoconfig_finds_16550a(void **state)
{
	uint8_t iir;
	unsigned int n;

	(void)state;
	wr(IER, 0);
	assert_int_equal(rd(IER) & 0x0f, 0);
	wr(IER, 0x0f);
	assert_int_equal(rd(IER) & 0x0f, 0x0f);
	wr(IER, 0);

	wr(MCR, 0x10 | 0x08 | 0x02); /* loop, OUT2, RTS -> DCD, CTS */
	assert_int_equal(rd(MSR) & 0xf0, 0x90);
	wr(MCR, 0x10 | 0x04 | 0x01); /* OUT1, DTR -> RI, DSR */
	assert_int_equal(rd(MSR) & 0xf0, 0x60);
	wr(MCR, 0);

	wr(LCR, 0xbf);
	wr(FCR, 0);
	wr(LCR, 0);
	assert_int_equal(rd(IIR) >> 6, 0);
	wr(FCR, 0x01);
	assert_int_equal(rd(IIR) >> 6, 3);

	/* An extended-features register would read 0 here. */
	wr(LCR, 0x80);
	assert_int_not_equal(rd(IIR), 0);
	wr(LCR, 0xbf);
	assert_int_not_equal(rd(IIR), 0);

	/* A second register bank would follow bit 4 of MCR. */
	wr(LCR, 0);
	wr(MCR, 0x10);
	wr(LCR, 0xe0);
	assert_int_equal(rd(IIR) & 0x10, 0);
	wr(LCR, 0);
	wr(MCR, 0);

	/* Bit 5 of IIR: 64-byte FIFO. */
	for (int dlab = 0; dlab < 2; dlab++) {
		wr(LCR, dlab ? 0x80 : 0);
		wr(FCR, 0x21);
		iir = rd(IIR);
		assert_int_equal(iir >> 5, 6);
		wr(FCR, 0x01);
	}
	wr(LCR, 0);
	wr(IER, 0x40); /* UUE of the XScale UART */
	assert_int_equal(rd(IER), 0);

	/* The size of the FIFO, by loopback. */
	wr(FCR, 0x07);
	wr(MCR, 0x10);
	for (unsigned int i = 0; i < 256; i++)
		wr(THR, (uint8_t)i);
	for (n = 0; n < 256 && (rd(LSR) & 0x01); n++)
		assert_int_equal(rd(RBR), n);
	assert_int_equal(n, 16);
	wr(MCR, 0);
	wr(FCR, 0x01);
	wr(FCR, 0x07);
	wr(FCR, 0x00);
}

/* What the driver does when the port is opened decides whether it trusts the THR-empty interrupt
 * or works around it with a timer. */
static void startup_trusts_thre(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		wr(IER, 0x02);
		assert_int_equal(rd(IIR) & 0x0f, 0x02);
		wr(IER, 0x00);
	}
	wr(IER, 0x02);
	assert_int_equal(rd(LSR) & 0x40, 0x40);
	assert_int_equal(rd(IIR) & 0x0f, 0x02);
	wr(IER, 0x00);
	assert_int_equal(rd(IIR) & 0x0f, 0x01);
}

static void thre_interrupt(void **state)
{
	(void)state;
	send('a'); /* empties before anybody asks */
	assert_false(vuart_irq(&u));
	wr(IER, 0x02);
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(LSR), 0x60); /* LSR does not acknowledge */
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0x02);
	assert_false(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0x01);
	send('b');
	assert_true(vuart_irq(&u));
	send('c');
	assert_int_equal(rd(IIR), 0x02);
	assert_int_equal(rd(IIR), 0x01);
	/* Written again though set already: raised again. */
	wr(IER, 0x02);
	assert_int_equal(rd(IIR), 0x02);
	/* Not enabled: not signalled, and not read as pending. */
	wr(IER, 0x00);
	send('d');
	assert_false(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0x01);
	wr(IER, 0x0d);
	assert_false(vuart_irq(&u));
}

static void receive_interrupt(void **state)
{
	(void)state;
	wr(FCR, 0xc1);
	receive("ab");
	assert_false(vuart_irq(&u));
	wr(IER, 0x01);
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0xc4);
	assert_int_equal(rd(IIR), 0xc4); /* only reading the data acknowledges */
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 'a');
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(RBR), 'b');
	assert_false(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0xc1);
	assert_int_equal(rd(LSR), 0x60);
	assert_int_equal(rd(RBR), 0);
}

static void priorities(void **state)
{
	(void)state;
	wr(FCR, 0x01);
	wr(MCR, 0x10);
	for (unsigned int i = 0; i < 17; i++)
		wr(THR, (uint8_t)i); /* 16 fit, one overruns */
	wr(IER, 0x0f);
	assert_int_equal(rd(IIR), 0xc6);
	assert_int_equal(rd(LSR), 0x63);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(IIR), 0xc4);
	wr(FCR, 0x03);
	/* The reads above reported others, so this one is still there. */
	assert_int_equal(rd(IIR), 0xc2);
	assert_int_equal(rd(IIR), 0xc1);
}

static void overrun_is_a_line_status(void **state)
{
	(void)state;
	wr(MCR, 0x10); /* FIFO off: room for one */
	wr(THR, 'a');
	wr(THR, 'b');
	assert_false(vuart_irq(&u));
	wr(IER, 0x04);
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(IIR), 0x06);
	assert_int_equal(rd(LSR), 0x63);
	assert_false(vuart_irq(&u));
	assert_int_equal(rd(RBR), 'a');
	assert_int_equal(rd(RBR), 0);
}

static void pasted_text_waits(void **state)
{
	uint8_t block[5000];
	unsigned int in = 0, out = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(block); i++)
		block[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(take(block, 0), 0);
	assert_int_equal(take(block, sizeof(block)), 4096);
	assert_int_equal(vuart_rx_space(&u), 0);
	assert_int_equal(take(block, 1), 0);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(rd(RBR), block[i]);
	assert_int_equal(vuart_rx_space(&u), 1000);
	assert_int_equal(take(block + 4096, 904), 904);
	assert_int_equal(vuart_rx_space(&u), 96);
	for (unsigned int i = 1000; i < 5000; i++)
		assert_int_equal(rd(RBR), block[i]);
	assert_int_equal(rd(LSR), 0x60);
	/* Many times around the ring. */
	while (in < 50000) {
		uint8_t byte = (uint8_t)(in++ * 5);

		assert_int_equal(take(&byte, 1), 1);
		if (in % 3 != 0)
			assert_int_equal(rd(RBR), (uint8_t)(out++ * 5));
		while (in % 12000 == 0 && out < in)
			assert_int_equal(rd(RBR), (uint8_t)(out++ * 5));
	}
	assert_int_equal(vuart_rx_space(&u), 4096 - (in - out));
}

static void fifo_control(void **state)
{
	(void)state;
	receive("typed ahead");
	wr(FCR, 0x02); /* works with bit 0 only */
	wr(FCR, 0x01);
	wr(FCR, 0x05); /* clears the transmitter, which is empty */
	wr(FCR, 0x00);
	assert_int_equal(vuart_rx_space(&u), 4096 - 11);
	assert_int_equal(rd(IIR) >> 6, 0);
	assert_int_equal(rd(RBR), 't');
	wr(FCR, 0x03);
	assert_int_equal(vuart_rx_space(&u), 4096);
	assert_int_equal(rd(LSR), 0x60);
	assert_int_equal(rd(IIR), 0xc1);
	receive("z");
	assert_int_equal(rd(RBR), 'z');
}

static void loopback_cuts_the_line(void **state)
{
	(void)state;
	wr(MCR, 0x1f);
	assert_int_equal(rd(MSR), 0xf0);
	assert_int_equal(vuart_rx_space(&u), 0);
	assert_int_equal(take((const uint8_t *)"x", 1), 0);
	wr(THR, 'l'); /* asserts that nothing goes out */
	assert_int_equal(rd(RBR), 'l');
	wr(MCR, 0x0b);
	assert_int_equal(rd(MSR), 0xb0);
	send('o');
	receive("x");
	assert_int_equal(rd(RBR), 'x');
}

/* BI is there once, with a byte 0, when all before it is read; the byte behind follows it. */
static void breaks_keep_their_order(void **state)
{
	(void)state;
	wr(FCR, 0x01);
	assert_false(u.opened);
	wr(IER, 0x04);
	assert_false(u.opened);
	wr(IER, 0x05);
	receive("ab");
	assert_true(vuart_break(&u, 's'));
	receive("c");
	assert_int_equal(rd(IIR), 0xc4);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 'a');
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 'b');
	assert_int_equal(rd(IIR), 0xc6);
	wr(IER, 0x04);
	assert_true(vuart_irq(&u));
	assert_int_equal(rd(LSR), 0x71);
	assert_false(vuart_irq(&u));
	wr(IER, 0x05);
	assert_int_equal(rd(IIR), 0xc4);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 0);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 's');
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 'c');
	assert_int_equal(rd(LSR), 0x60);
	/* Also when the driver has closed it: it writes IER while it prints, too. */
	wr(IER, 0);
	assert_true(u.opened);
}

/* Without room for both, or behind another break, nothing is received. */
static void breaks_wait_for_room(void **state)
{
	static uint8_t block[4095];

	(void)state;
	memset(block, 'x', sizeof(block));
	assert_int_equal(take(block, sizeof(block)), sizeof(block));
	assert_false(vuart_break(&u, 's'));
	assert_int_equal(vuart_rx_space(&u), 1);
	assert_int_equal(rd(RBR), 'x');
	assert_true(vuart_break(&u, 's'));
	assert_int_equal(vuart_rx_space(&u), 0);
	for (unsigned int i = 1; i < sizeof(block); i++) {
		assert_int_equal(rd(LSR), 0x61);
		assert_int_equal(rd(RBR), 'x');
	}
	assert_false(vuart_break(&u, 'u'));
	assert_int_equal(rd(LSR), 0x71);
	/* The break was seen, so there may be another one. */
	assert_true(vuart_break(&u, 'u'));
	assert_int_equal(rd(RBR), 0);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 's');
	/* A driver that does not look at LSR reads a 0. */
	assert_int_equal(rd(RBR), 0);
	assert_int_equal(rd(LSR), 0x61);
	assert_int_equal(rd(RBR), 'u');
	/* None is left behind for the byte that comes to its place when it is dropped. */
	assert_true(vuart_break(&u, 'o'));
	wr(FCR, 0x03);
	receive("z");
	assert_int_equal(rd(LSR), 0x61);
	assert_true(vuart_break(&u, 'o'));
	vuart_init(&u);
	receive("z");
	assert_int_equal(rd(LSR), 0x61);
	wr(MCR, 0x10);
	assert_false(vuart_break(&u, 's'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(reset_values, setup),
	    cmocka_unit_test_setup(registers_keep_their_bits, setup),
	    cmocka_unit_test_setup(divisor_latch, setup),
	    cmocka_unit_test_setup(outside_the_registers, setup),
	    cmocka_unit_test_setup(autoconfig_finds_16550a, setup),
	    cmocka_unit_test_setup(startup_trusts_thre, setup),
	    cmocka_unit_test_setup(thre_interrupt, setup),
	    cmocka_unit_test_setup(receive_interrupt, setup),
	    cmocka_unit_test_setup(priorities, setup),
	    cmocka_unit_test_setup(overrun_is_a_line_status, setup),
	    cmocka_unit_test_setup(pasted_text_waits, setup),
	    cmocka_unit_test_setup(fifo_control, setup),
	    cmocka_unit_test_setup(loopback_cuts_the_line, setup),
	    cmocka_unit_test_setup(breaks_keep_their_order, setup),
	    cmocka_unit_test_setup(breaks_wait_for_room, setup),
	};

	return cmocka_run_group_tests_name("vuart", tests, NULL, NULL);
}
