/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

/* Copies eight words per iteration, because guest images of tens of megabytes are copied with it.
 * In a device tree they are aligned to 4 bytes. */
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return memmove(to, from, n);
}

static void copy_up(uint8_t *d, const uint8_t *s, size_t n)
{
	if (!(((uintptr_t)d | (uintptr_t)s) & 7)) {
		for (; n >= 64; n -= 64, d += 64, s += 64) {
			uint64_t *dw = (uint64_t *)(void *)d;
			const uint64_t *sw = (const uint64_t *)(const void *)s;
			uint64_t a = sw[0], b = sw[1], c = sw[2], e = sw[3];
			uint64_t f = sw[4], g = sw[5], h = sw[6], i = sw[7];

			dw[0] = a, dw[1] = b, dw[2] = c, dw[3] = e;
			dw[4] = f, dw[5] = g, dw[6] = h, dw[7] = i;
		}
	}
	if (!(((uintptr_t)d | (uintptr_t)s) & 3)) {
		for (; n >= 32; n -= 32, d += 32, s += 32) {
			uint32_t *dw = (uint32_t *)(void *)d;
			const uint32_t *sw = (const uint32_t *)(const void *)s;
			uint32_t a = sw[0], b = sw[1], c = sw[2], e = sw[3];
			uint32_t f = sw[4], g = sw[5], h = sw[6], i = sw[7];

			dw[0] = a, dw[1] = b, dw[2] = c, dw[3] = e;
			dw[4] = f, dw[5] = g, dw[6] = h, dw[7] = i;
		}
	}
	while (n--)
		*d++ = *s++;
}

static void copy_down(uint8_t *d, const uint8_t *s, size_t n)
{
	while (n && (((uintptr_t)(d + n) | (uintptr_t)(s + n)) & 7)) {
		n--;
		d[n] = s[n];
	}
	for (; n >= 8; n -= 8)
		*(uint64_t *)(void *)(d + n - 8) = *(const uint64_t *)(const void *)(s + n - 8);
	while (n--)
		d[n] = s[n];
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;

	if (d <= s || d >= s + n)
		copy_up(d, s, n);
	else
		copy_down(d, s, n);
	return to;
}

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
