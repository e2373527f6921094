/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/printf.h"

#include <stdbool.h>
#include <stdint.h>

#define MAX_DIGITS 20u  /* 2^64 - 1 in decimal */
#define MAX_WIDTH  256u /* so that a wrong `*` does not flood the console */

struct sink {
	char *at, *end; /* the next byte, and the place of the final NUL */
	size_t lost;    /* bytes of the text that did not fit */
};

/* One conversion: %[flags][width][.precision][length]letter */
struct spec {
	bool left;
	bool zero;
	bool has_precision;
	unsigned int width;
	unsigned int precision;
	bool is_64; /* l, ll, z: 64 bits; otherwise int */
};

static void put(struct sink *s, char c)
{
	if (s->at < s->end)
		*s->at++ = c;
	else
		s->lost++;
}

/* Copies up to a NUL or the character `to`. Returns the place of that. Most of a line is copied
 * here, so the loop keeps its state in registers. */
static const char *put_until(struct sink *s, const char *str, char to)
{
	char *at = s->at, *end = s->end;

	for (; *str != '\0' && *str != to; str++) {
		if (at < end)
			*at++ = *str;
		else
			s->lost++;
	}
	s->at = at;
	return str;
}

static void put_times(struct sink *s, char c, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put(s, c);
}

static unsigned int padding(const struct spec *sp, unsigned int len)
{
	return sp->width > len ? sp->width - len : 0;
}

static void put_string(struct sink *s, const struct spec *sp, const char *str)
{
	unsigned int len = 0;

	if (str == NULL)
		str = "(null)";
	if (!sp->has_precision && !sp->width) {
		(void)put_until(s, str, '\0');
		return;
	}
	/* The precision is checked first: a string with a precision need not end in NUL. */
	while ((!sp->has_precision || len < sp->precision) && str[len] != '\0')
		len++;
	if (!sp->left)
		put_times(s, ' ', padding(sp, len));
	for (unsigned int i = 0; i < len; i++)
		put(s, str[i]);
	if (sp->left)
		put_times(s, ' ', padding(sp, len));
}

static void put_number(struct sink *s, const struct spec *sp, bool negative, uint64_t v,
                       unsigned int base)
{
	char digits[MAX_DIGITS + 1];
	char *first = digits + MAX_DIGITS;
	unsigned int pad;

	*first = '\0';
	do {
		*--first = "0123456789abcdef"[v % base];
		v /= base;
	} while (v != 0);
	pad = padding(sp, (unsigned int)(digits + MAX_DIGITS - first) + negative);
	if (!sp->left && !sp->zero)
		put_times(s, ' ', pad);
	if (negative)
		put(s, '-');
	if (!sp->left && sp->zero)
		put_times(s, '0', pad);
	(void)put_until(s, first, '\0');
	if (sp->left)
		put_times(s, ' ', pad);
}

static unsigned int parse_number(const char **f)
{
	unsigned int n = 0;

	while (**f >= '0' && **f <= '9') {
		n = n * 10 + (unsigned int)(**f - '0');
		if (n > MAX_WIDTH)
			n = MAX_WIDTH;
		(*f)++;
	}
	return n;
}

static unsigned int clamp(int n)
{
	if (n < 0)
		return 0;
	return (unsigned int)n < MAX_WIDTH ? (unsigned int)n : MAX_WIDTH;
}

/* Handles %c %s %d %i %u %x %p. Returns false if it does not know the letter. */
static bool convert(struct sink *s, struct spec *sp, char letter, va_list *args)
{
	int64_t d;
	uint64_t u;
	char c[1];

	switch (letter) {
	case 'c':
		c[0] = (char)va_arg(*args, int);
		sp->has_precision = true;
		sp->precision = c[0] != '\0';
		put_string(s, sp, c);
		return true;
	case 's':
		put_string(s, sp, va_arg(*args, const char *));
		return true;
	case 'd':
	case 'i':
		d = sp->is_64 ? va_arg(*args, int64_t) : va_arg(*args, int);
		u = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
		put_number(s, sp, d < 0, u, 10);
		return true;
	case 'u':
	case 'x':
		u = sp->is_64 ? va_arg(*args, uint64_t) : va_arg(*args, unsigned int);
		put_number(s, sp, false, u, letter == 'u' ? 10 : 16);
		return true;
	case 'p':
		put(s, '0');
		put(s, 'x');
		*sp = (struct spec){.zero = true, .width = 16};
		put_number(s, sp, false, (uintptr_t)va_arg(*args, void *), 16);
		return true;
	default:
		return false;
	}
}

static const char *parse_spec(const char *f, struct spec *sp, va_list *args)
{
	*sp = (struct spec){0};
	for (; *f == '-' || *f == '0'; f++) {
		sp->left |= *f == '-';
		sp->zero |= *f == '0';
	}
	if (*f == '*') {
		sp->width = clamp(va_arg(*args, int));
		f++;
	} else {
		sp->width = parse_number(&f);
	}
	if (*f == '.') {
		sp->has_precision = true;
		f++;
		if (*f == '*') {
			sp->precision = clamp(va_arg(*args, int));
			f++;
		} else {
			sp->precision = parse_number(&f);
		}
	}
	for (; *f == 'l' || *f == 'z'; f++)
		sp->is_64 = true;
	return f;
}

int tally_vsnprintf(char *buf, size_t size, const char *format, va_list args)
{
	struct sink s = {.at = buf, .end = size > 0 ? buf + size - 1 : buf};
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
	if (size > 0)
		*s.at = '\0';
	return (int)((size_t)(s.at - buf) + s.lost);
}

int tally_snprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = tally_vsnprintf(buf, size, format, args);
	va_end(args);
	return n;
}
