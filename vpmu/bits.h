/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of counters as 64-bit masks. */
#ifndef VPMU_BITS_H
#define VPMU_BITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Indexed by the top six bits of (mask with one bit) * VPMU_DE_BRUIJN. The compiler's builtin would
 * call libgcc on a hart without Zbb.
 */
#define VPMU_DE_BRUIJN UINT64_C(0x03f79d71b4cb0a89)
extern const uint8_t vpmu_bit_index[64];

static inline uint64_t bit64(uint32_t i)
{
	return UINT64_C(1) << i;
}

/* Adds bits to a set, or removes them. */
static inline void put_bits(uint64_t *set, uint64_t bits, bool in)
{
	*set = in ? *set | bits : *set & ~bits;
}

/* mask must not be 0. */
static inline uint32_t lowest_bit(uint64_t mask)
{
	return vpmu_bit_index[((mask & -mask) * VPMU_DE_BRUIJN) >> 58];
}

/* Does the same in fewer instructions, for a mask with exactly one bit. */
static inline uint32_t only_bit(uint64_t mask)
{
	return vpmu_bit_index[(mask * VPMU_DE_BRUIJN) >> 58];
}

/* mask must not be 0. */
static inline uint32_t highest_bit(uint64_t mask)
{
	while ((mask & (mask - 1)) != 0)
		mask &= mask - 1;
	return lowest_bit(mask);
}

/* i, a uint32_t, takes the index of each bit that was set in mask at the beginning, lowest
 * first. */
#define for_each_bit(i, mask)                                                                      \
	for (uint64_t i##_left = (mask); i##_left != 0 && ((i) = lowest_bit(i##_left), true);      \
	     i##_left &= i##_left - 1)

#endif
