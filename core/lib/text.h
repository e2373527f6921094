/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is put together piece by piece, in the caller's buffer. Pure. */
#ifndef CORE_LIB_TEXT_H
#define CORE_LIB_TEXT_H

#include <stddef.h>

/* buf ends in NUL at all times. What does not fit is dropped. */
struct text {
	char *buf;
	size_t size;
	size_t length; /* without the NUL, < size */
};

/* Empty text; size > 0. */
struct text text_begin(char *buf, size_t size);

/* A format as core/lib/printf.h has it. */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A string, in which '?' stands for what is not printable ASCII. */
void text_add_clean(struct text *t, const char *s);

#endif
