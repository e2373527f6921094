/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/lib/print.h"

#include "guests/lib/sbi.h"

#define UART_THR ((volatile uint8_t *)0x10000000)
#define UART_LSR ((volatile uint8_t *)0x10000005)
#define LSR_THRE 0x20

static bool have_dbcn;
static char line[256];
static size_t used;

void print_init(void)
{
	have_dbcn =
	    sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_DBCN, 0, 0, 0, 0, 0).value !=
	    0;
}

size_t str_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* DBCN may accept fewer bytes than it was given. */
static void flush(void)
{
	size_t done = 0;

	while (done < used) {
		if (have_dbcn) {
			struct sbiret r =
			    sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, used - done,
			             (unsigned long)(line + done), 0, 0, 0, 0);

			if (r.error)
				break;
			done += r.value;
		} else {
			while (!(*UART_LSR & LSR_THRE))
				;
			*UART_THR = (uint8_t)line[done++];
		}
	}
	used = 0;
}

static void put(char c)
{
	line[used++] = c;
	if (c == '\n' || used == sizeof(line))
		flush();
}

static void put_num(uint64_t v, unsigned base)
{
	char buf[20];
	size_t i = 0;

	do {
		buf[i++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (i)
		put(buf[--i]);
}

static void put_arg(char kind, va_list *ap)
{
	if (kind == 's') {
		for (const char *s = va_arg(*ap, const char *); *s; s++)
			put(*s);
	} else if (kind == 'd') {
		int64_t v = va_arg(*ap, int64_t);

		if (v < 0)
			put('-');
		put_num(v < 0 ? -(uint64_t)v : (uint64_t)v, 10);
	} else {
		put_num(va_arg(*ap, uint64_t), kind == 'x' ? 16 : 10);
	}
}

void print_args(const char *fmt, va_list args)
{
	va_list ap;

	va_copy(ap, args);
	for (; *fmt; fmt++) {
		if (*fmt == '%' && fmt[1])
			put_arg(*++fmt, &ap);
		else
			put(*fmt);
	}
	va_end(ap);
}

void print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_args(fmt, args);
	va_end(args);
}
