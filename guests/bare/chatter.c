/* SPDX-License-Identifier: Apache-2.0 */
/* Prints numbered lines of different lengths without a pause; by=dbcn in pieces, by=uart. */
#include "guests/bare/bare.h"

#define UART_THR ((volatile uint8_t *)0x10000000)

static char text[160];

static uint64_t put_num(uint64_t at, uint64_t n)
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

/* "line N " and N % 97 letters. */
static uint64_t make_line(uint64_t n)
{
	static const char start[] = "line ";
	uint64_t at = 0;

	while (start[at]) {
		text[at] = start[at];
		at++;
	}
	at = put_num(at, n);
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
		                           (unsigned long)(text + at), 0, 0, 0, 0);

		if (r.error)
			return;
		at += r.value;
	}
}

int chatter(uint64_t hartid)
{
	bool uart = bootarg_is("by", "uart");
	uint64_t lines = bootarg_num("lines", 1000);

	(void)hartid;
	for (uint64_t n = 0; n < lines; n++) {
		uint64_t length = make_line(n);

		if (!uart)
			by_dbcn(length);
		for (uint64_t i = 0; uart && i < length; i++)
			*UART_THR = (uint8_t)text[i];
	}
	return 0;
}
