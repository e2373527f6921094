/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy() and memmove(): of images of tens of megabytes, and of lines of text. */
#include <stdint.h>
#include <string.h>

/* Copies so that only the source is not aligned. Reads whole words that hold at least one byte of
 * the source; a word is read before a byte of it can be written. Returns the number of bytes. */
static size_t copy_shifted(uint8_t *d, const uint8_t *s, size_t n)
{
	unsigned int shift = ((uintptr_t)s & 7) * 8;
	const uint64_t *sw = (const uint64_t *)((uintptr_t)s & ~7UL);
	uint64_t *dw = (uint64_t *)(void *)d, *end = dw + n / 8;

	for (uint64_t low = *sw, high; dw < end; low = high) {
		high = *++sw;
		*dw++ = low >> shift | high << (64 - shift);
	}
	return n & ~7UL;
}

static void copy_words(uint8_t *d, const uint8_t *s, size_t n)
{
	if (!(((uintptr_t)d | (uintptr_t)s) & 7)) {
		for (; n >= 8; n -= 8, d += 8, s += 8)
			*(uint64_t *)(void *)d = *(const uint64_t *)(const void *)s;
	}
	while (n--)
		*d++ = *s++;
}

/* Copies eight words per iteration, because guest images of tens of megabytes are copied with it.
 * In a device tree they are aligned to 4 bytes. Lines of text begin and go anywhere. Not inlined:
 * short copies save no registers. n is at least 16. */
static __attribute__((noinline)) void copy_up(uint8_t *d, const uint8_t *s, size_t n)
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
	} else if (!(((uintptr_t)d | (uintptr_t)s) & 3)) {
		for (; n >= 32; n -= 32, d += 32, s += 32) {
			uint32_t *dw = (uint32_t *)(void *)d;
			const uint32_t *sw = (const uint32_t *)(const void *)s;
			uint32_t a = sw[0], b = sw[1], c = sw[2], e = sw[3];
			uint32_t f = sw[4], g = sw[5], h = sw[6], i = sw[7];

			dw[0] = a, dw[1] = b, dw[2] = c, dw[3] = e;
			dw[4] = f, dw[5] = g, dw[6] = h, dw[7] = i;
		}
	} else {
		size_t done;

		for (; (uintptr_t)d & 7; n--)
			*d++ = *s++;
		done = (uintptr_t)s & 7 ? copy_shifted(d, s, n) : 0;
		d += done, s += done, n -= done;
	}
	copy_words(d, s, n);
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

	if (d > s && d < s + n)
		copy_down(d, s, n);
	else if (n >= 16)
		copy_up(d, s, n);
	else
		copy_words(d, s, n);
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return memmove(to, from, n);
}
