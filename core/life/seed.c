/* SPDX-License-Identifier: Apache-2.0 */
/* The block function of ChaCha20 (RFC 8439, section 2.3), with the host's seed as the key. */
#include "core/life/seed.h"

#include <string.h>

#define WORDS         16U
#define KEY_AT        4U
#define COUNTER_AT    12U
#define DOUBLE_ROUNDS 10U

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are the RFC's as they lie there");

/* Constant after boot. */
static uint8_t key[SEED_BYTES];
static bool taken;

bool seed_take(const void *host, size_t size)
{
	taken = size >= SEED_BYTES;
	if (taken)
		memcpy(key, host, SEED_BYTES);
	return taken;
}

bool seed_is_there(void)
{
	return taken;
}

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

static inline __attribute__((always_inline)) void
quarter_round(uint32_t w[WORDS], unsigned int i, unsigned int j, unsigned int k, unsigned int l)
{
	uint32_t a = w[i], b = w[j], c = w[k], d = w[l];

	a += b, d = rotate(d ^ a, 16);
	c += d, b = rotate(b ^ c, 12);
	a += b, d = rotate(d ^ a, 8);
	c += d, b = rotate(b ^ c, 7);
	w[i] = a, w[j] = b, w[k] = c, w[l] = d;
}

/* Quarter rounds on the columns of the 4 x 4 words, then on the diagonals. All of them are part of
 * one stay in HS, so the diagonals' places are constants. */
static void double_round(uint32_t w[WORDS])
{
	for (unsigned int i = 0; i < 4; i++)
		quarter_round(w, i, 4 + i, 8 + i, 12 + i);
	quarter_round(w, 0, 5, 10, 15);
	quarter_round(w, 1, 6, 11, 12);
	quarter_round(w, 2, 7, 8, 13);
	quarter_round(w, 3, 4, 9, 14);
}

/* Leaves no key on the hart's stack. The compiler must not optimise this away. */
static void wipe(uint32_t w[WORDS])
{
	memset(w, 0, WORDS * sizeof(w[0]));
	__asm__ volatile("" : : "r"(w) : "memory");
}

void seed_of_life(uint32_t vm, uint64_t life, uint8_t seed[SEED_BYTES])
{
	/* The constant "expand 32-byte k", the key, the block counter and the nonce of the RFC. */
	uint32_t input[WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	uint32_t w[WORDS];

	memcpy(&input[KEY_AT], key, sizeof(key));
	input[COUNTER_AT] = (uint32_t)life;
	input[COUNTER_AT + 1] = (uint32_t)(life >> 32);
	input[COUNTER_AT + 2] = vm;
	memcpy(w, input, sizeof(w));
	for (unsigned int i = 0; i < DOUBLE_ROUNDS; i++)
		double_round(w);
	for (unsigned int i = 0; i < WORDS; i++)
		w[i] += input[i];
	memcpy(seed, w, SEED_BYTES);
	wipe(input);
	wipe(w);
}
