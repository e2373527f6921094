/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints numbered lines of different lengths without a pause: by=dbcn in pieces, by=call with as
 * many as possible per call, by=uart, by=blind without a look at its status, by=byte with
 * WRITE_BYTE.
 */
#include "guests/bare/bare.h"

#define UART_THR ((volatile uint8_t *)0x10000000)
#define UART_LSR ((volatile uint8_t *)0x10000005)
#define LSR_THRE 0x20
#define FIFO     16UL

#define LINE_BYTES 160UL
#define POOL       ((char *)0x80800000)
#define POOL_BYTES 0x200000UL

static char line[LINE_BYTES];

static uint64_t put_num(char *text, uint64_t at, uint64_t n)
{
	char digits[20];
	uint64_t i = 0;

	do {
		digits[i++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (i)
		text[at++] = digits[--i];
	return at;
}

/* Writes "line N " and N % 97 letters. */
static uint64_t make_line(char *text, uint64_t n)
{
	static const char start[] = "line ";
	uint64_t at = 0;

	while (start[at]) {
		text[at] = start[at];
		at++;
	}
	at = put_num(text, at, n);
	text[at++] = ' ';
	for (uint64_t i = 0; i < n % 97; i++)
		text[at++] = (char)('a' + i % 26);
	text[at++] = '\n';
	return at;
}

static void by_dbcn(uint64_t length)
{
	for (uint64_t at = 0; at < length;) {
		uint64_t n = length - at < 13 ? length - at : 13;
		struct sbiret r = sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, n,
		                           (unsigned long)(line + at), 0, 0, 0, 0);

		/* As Linux's driver, it drops a text of which no byte was written. */
		if (r.error || !r.value)
			return;
		at += r.value;
	}
}

/* Prints lines from n on. Returns the first one that was not printed. */
static uint64_t by_call(uint64_t n, uint64_t lines)
{
	uint64_t length = 0;

	while (n < lines && length < POOL_BYTES - LINE_BYTES)
		length += make_line(POOL + length, n++);
	for (uint64_t at = 0; at < length;)
		at += (uint64_t)sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, length - at,
		                         (unsigned long)POOL + at, 0, 0, 0, 0)
		          .value;
	return n;
}

/* As many bytes as a FIFO has each time that it is empty, as drivers do. */
static void by_uart(uint64_t length)
{
	for (uint64_t i = 0; i < length; i++) {
		while (i % FIFO == 0 && !(*UART_LSR & LSR_THRE))
			;
		*UART_THR = (uint8_t)line[i];
	}
}

static void by_blind(uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		*UART_THR = (uint8_t)line[i];
}

static void by_byte(uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE, (uint8_t)line[i], 0, 0, 0, 0, 0);
}

int chatter(uint64_t hartid)
{
	bool uart = bootarg_is("by", "uart"), call = bootarg_is("by", "call");
	bool byte = bootarg_is("by", "byte"), blind = bootarg_is("by", "blind");
	uint64_t lines = bootarg_num("lines", 1000), n = 0;

	(void)hartid;
	while (call && n < lines)
		n = by_call(n, lines);
	for (; n < lines; n++) {
		uint64_t length = make_line(line, n);

		(uart ? by_uart : blind ? by_blind : byte ? by_byte : by_dbcn)(length);
	}
	return 0;
}
