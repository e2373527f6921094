/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is built piece by piece in the caller's buffer. Any hart may call. */
#ifndef CORE_LIB_TEXT_H
#define CORE_LIB_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* buf always ends in NUL. Text that does not fit is dropped. */
struct text {
	char *buf;
	size_t size;
	size_t length; /* without the NUL, < size */
};

/* Returns an empty text in buf; size > 0. */
struct text text_begin(char *buf, size_t size);

/* Appends formatted text, see core/lib/printf.h. */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Appends a string, with '?' for each character that is not printable ASCII. */
void text_add_clean(struct text *t, const char *s);

#endif
