/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output by whole lines: to DBCN if there is one, otherwise to a 16550 at 0x10000000. Formats: %s
 * string, %d signed, %u unsigned, %x hexadecimal. Every number has 64 bits.
 */
#ifndef GUESTS_LIB_PRINT_H
#define GUESTS_LIB_PRINT_H

#include <stdarg.h>
#include <stddef.h>

void print_init(void);
void print(const char *fmt, ...);
void print_args(const char *fmt, va_list args);
size_t str_len(const char *s);

#endif
