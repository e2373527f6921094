/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include <stdarg.h>
#include <string.h>

#include "arch/riscv/hart/spinlock.h"
#include "core/lib/printf.h"

static struct spinlock lock;
static struct uart uart;

static void plain(const char *text)
{
	log_emit("tally: ", 7);
	log_emit(text, strlen(text));
	log_emit("\n", 1);
}

/* Written at boot, before other harts run. */
static void (*write_line)(const char *text) = plain;

void log_init(hpa_t uart_base, uint32_t uart_shift, uint32_t uart_width)
{
	uart_init(&uart, uart_base, uart_shift, uart_width);
}

void log_set_writer(void (*writer)(const char *text))
{
	write_line = writer;
}

static void (*diverted)(const char *text);

void log_divert(void (*writer)(const char *text))
{
	diverted = writer;
}

void log_lock(void)
{
	spin_lock(&lock);
}

void log_unlock(void)
{
	spin_unlock(&lock);
}

void log_emit(const char *bytes, size_t n)
{
	uart_write(&uart, bytes, n);
}

const struct uart *log_uart(void)
{
	return &uart;
}

void log_line(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	tally_vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (diverted)
		diverted(line);
	else
		log_text(line);
}

void log_text(const char *line)
{
	log_lock();
	write_line(line);
	log_unlock();
}

void log_panic(const char *line)
{
	write_line(line);
}
