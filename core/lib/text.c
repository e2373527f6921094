/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/text.h"

#include "core/lib/printf.h"

struct text text_begin(char *buf, size_t size)
{
	buf[0] = '\0';
	return (struct text){.buf = buf, .size = size};
}

void text_vadd(struct text *t, const char *format, va_list args)
{
	t->length += tally_vsnprintf(t->buf + t->length, t->size - t->length, format, args);
}

void text_add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(t, format, args);
	va_end(args);
}

void text_add_clean(struct text *t, const char *s)
{
	for (; *s && t->length + 1 < t->size; s++)
		t->buf[t->length++] = *s >= ' ' && *s <= '~' ? *s : '?';
	t->buf[t->length] = '\0';
}
