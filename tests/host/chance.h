/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same on every machine. */
#ifndef TESTS_HOST_CHANCE_H
#define TESTS_HOST_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

static inline uint64_t chance_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline uint64_t chance(struct chance *c)
{
	c->state += 0x9e3779b97f4a7c15ULL;
	return chance_mix(c->state);
}

static inline uint32_t below(struct chance *c, uint32_t n)
{
	return (uint32_t)((chance(c) >> 32) * n >> 32);
}

static inline bool percent(struct chance *c, uint32_t p)
{
	return below(c, 100) < p;
}

/* Returns one bit of the set, or 64 if it is empty. */
static inline uint32_t any_of(struct chance *c, uint64_t set)
{
	uint32_t n = (uint32_t)__builtin_popcountll(set);

	if (!n)
		return 64;
	for (n = below(c, n); n; n--)
		set &= set - 1;
	return (uint32_t)__builtin_ctzll(set);
}

#endif
