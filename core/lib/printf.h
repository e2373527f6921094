/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text formatting for Tally's messages. Any hart may call; no lock is needed.
 *
 * It supports %c %s %d %u %x %%; l, ll and z before d, u, x; for these a minimum width that zeros
 * fill (0 and a number); and for %s a maximum length (.number or .*). A string with a maximum
 * length need not end in NUL. A null string prints as (null). From the first unsupported conversion
 * on, the format is copied unchanged and no argument is used.
 */
#ifndef CORE_LIB_PRINTF_H
#define CORE_LIB_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

/* Writes at most size bytes, which is not 0, including the final NUL, which is always written.
 * Text that does not fit is dropped. Returns the length of the written text without NUL. */
size_t tally_vsnprintf(char *buf, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
size_t tally_snprintf(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
