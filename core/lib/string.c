/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

void *memset(void *to, int c, size_t n)
{
	uint8_t *d = to;
	uint64_t word = 0x0101010101010101UL * (uint8_t)c;

	if (!((uintptr_t)d & 7)) {
		for (; n >= 32; n -= 32, d += 32) {
			uint64_t *dw = (uint64_t *)(void *)d;

			dw[0] = word, dw[1] = word, dw[2] = word, dw[3] = word;
		}
	}
	while (n--)
		*d++ = (uint8_t)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n; n--, x++, y++) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const uint8_t *p = s;

	for (; n; n--, p++) {
		if (*p == (uint8_t)c)
			return (void *)(uintptr_t)p;
	}
	return NULL;
}

size_t strlen(const char *s)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;
	const char *p = s;

	for (; (uintptr_t)p & 7; p++) {
		if (!*p)
			return (size_t)(p - s);
	}
	/* A word in which no byte is 0: long lines are measured in each stay that prints one. */
	for (uint64_t w; w = *(const uint64_t *)(const void *)p, !((w - ones) & ~w & tops);)
		p += 8;
	while (*p)
		p++;
	return (size_t)(p - s);
}

/* C11's string.h does not declare it, but libfdt needs it. */
size_t strnlen(const char *s, size_t max);

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--)
		a++, b++;
	return n ? (uint8_t)*a - (uint8_t)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (!*s)
			return NULL;
	}
	return (char *)(uintptr_t)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (; *s; s++) {
		if (*s == (char)c)
			last = s;
	}
	return (char *)(uintptr_t)(c ? last : s);
}
