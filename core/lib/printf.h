/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text formatting for Tally's messages. Any hart may call; no lock is needed.
 *
 * It supports %c %s %d %u %x %%; l, ll and z before d, u, x; for these a minimum width that zeros
 * fill (0 and a number); and for %s a maximum length (.number or .*; a negative one counts as 0). A
 * string with a maximum length need not end in NUL. Widths and lengths above 256 count as 256. A
 * null string prints as (null). From the first unsupported conversion on, the format is copied
 * unchanged and no argument is used.
 */
#ifndef CORE_LIB_PRINTF_H
#define CORE_LIB_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

/* Writes at most size bytes including the final NUL, which is always written if size > 0. Returns
 * the length of the whole text without NUL. The text was truncated if that is >= size. */
int tally_vsnprintf(char *buf, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int tally_snprintf(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
