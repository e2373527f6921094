/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/printf.h"

#include <stdbool.h>
#include <stdint.h>

#define MAX_DIGITS 20u /* 2^64 - 1 in decimal */

struct sink {
	char *at, *end; /* the next byte, and the place of the final NUL */
};

/* One conversion: %[0][width][.precision][length]letter */
struct spec {
	bool has_precision;
	unsigned int zeros; /* least number of digits and sign, filled up with zeros */
	unsigned int precision;
	bool is_64; /* l, ll, z: 64 bits; otherwise int */
};

static void put(struct sink *s, char c)
{
	if (s->at < s->end)
		*s->at++ = c;
}

/* Copies up to a NUL or the character `to`. Returns the place of that. Most of a line is copied
 * here, so the loop keeps its state in registers. */
static const char *put_until(struct sink *s, const char *str, char to)
{
	char *at = s->at, *end = s->end;

	for (; *str != '\0' && *str != to; str++) {
		if (at < end)
			*at++ = *str;
	}
	s->at = at;
	return str;
}

static void put_string(struct sink *s, const struct spec *sp, const char *str)
{
	if (str == NULL)
		str = "(null)";
	if (!sp->has_precision)
		(void)put_until(s, str, '\0');
	/* The precision is checked first: a string with a precision need not end in NUL. */
	for (unsigned int i = 0; i < sp->precision && str[i] != '\0'; i++)
		put(s, str[i]);
}

static void put_number(struct sink *s, const struct spec *sp, bool negative, uint64_t v,
                       unsigned int base)
{
	char digits[MAX_DIGITS + 1];
	char *first = digits + MAX_DIGITS;

	*first = '\0';
	do {
		*--first = "0123456789abcdef"[v % base];
		v /= base;
	} while (v != 0);
	if (negative)
		put(s, '-');
	for (unsigned int n = (unsigned int)(digits + MAX_DIGITS - first) + negative; n < sp->zeros;
	     n++)
		put(s, '0');
	(void)put_until(s, first, '\0');
}

static unsigned int parse_number(const char **f)
{
	unsigned int n = 0;

	while (**f >= '0' && **f <= '9') {
		n = n * 10 + (unsigned int)(**f - '0');
		(*f)++;
	}
	return n;
}

/* Handles %c %s %d %u %x. Returns false if it does not know the letter. */
static bool convert(struct sink *s, const struct spec *sp, char letter, va_list *args)
{
	int64_t d;
	uint64_t u;
	char c;

	switch (letter) {
	case 'c':
		c = (char)va_arg(*args, int);
		if (c != '\0')
			put(s, c);
		return true;
	case 's':
		put_string(s, sp, va_arg(*args, const char *));
		return true;
	case 'd':
		d = sp->is_64 ? va_arg(*args, int64_t) : va_arg(*args, int);
		u = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
		put_number(s, sp, d < 0, u, 10);
		return true;
	case 'u':
	case 'x':
		u = sp->is_64 ? va_arg(*args, uint64_t) : va_arg(*args, unsigned int);
		put_number(s, sp, false, u, letter == 'u' ? 10 : 16);
		return true;
	default:
		return false;
	}
}

static const char *parse_spec(const char *f, struct spec *sp, va_list *args)
{
	*sp = (struct spec){0};
	if (*f == '0')
		sp->zeros = parse_number(&f);
	if (*f == '.') {
		sp->has_precision = true;
		f++;
		if (*f == '*') {
			sp->precision = (unsigned int)va_arg(*args, int);
			f++;
		} else {
			sp->precision = parse_number(&f);
		}
	}
	for (; *f == 'l' || *f == 'z'; f++)
		sp->is_64 = true;
	return f;
}

size_t tally_vsnprintf(char *buf, size_t size, const char *format, va_list args)
{
	struct sink s = {.at = buf, .end = buf + size - 1};
	struct spec sp;
	va_list ap;

	/* parse_spec() takes a pointer to a va_list. A parameter of type va_list may have decayed
	 * to a pointer, so &args would have the wrong type; &ap has the right one. */
	va_copy(ap, args);
	for (const char *f = format; *(f = put_until(&s, f, '%')) != '\0'; f++) {
		const char *start = f;

		f = parse_spec(f + 1, &sp, &ap);
		if (*f == '%') {
			put(&s, '%');
		} else if (!convert(&s, &sp, *f, &ap)) {
			/* The types of the remaining arguments are unknown, so no further
			 * conversion is possible. */
			(void)put_until(&s, start, '\0');
			break;
		}
	}
	va_end(ap);
	*s.at = '\0';
	return (size_t)(s.at - buf);
}

size_t tally_snprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	n = tally_vsnprintf(buf, size, format, args);
	va_end(args);
	return n;
}
