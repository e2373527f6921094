/* SPDX-License-Identifier: Apache-2.0 */
/* Code of known length around reads of a counter, by counter_idx 0..31; runs in S and in U. */
#ifndef GUESTS_LIB_COUNT_H
#define GUESTS_LIB_COUNT_H

#include <stdint.h>

#define BIT(n)             (1UL << (n))
#define EVENT_CYCLES       0x1UL
#define EVENT_INSTRUCTIONS 0x2UL

/* Returns the instructions between the two reads: 2 * rounds + 1. */
typedef uint64_t (*segment_t)(uint64_t rounds);
segment_t segment_of(uint32_t ctr);

typedef uint64_t (*read_t)(void);
read_t read_of(uint32_t ctr);
static inline uint64_t counter_read(uint32_t ctr)
{
	return read_of(ctr)();
}

/* Fills an array with the results of reads that are five instructions apart. */
typedef void (*reads_t)(uint64_t *values, uint64_t n);
reads_t reads_of(uint32_t ctr);

/* For user_run(): calls the function in its second argument with the first, then executes ecall. */
void user_call(void);
/* Instructions of user_call for a segment, followed by an ecall, which some harts count. */
#define USER_SEGMENT(rounds) (2 * (rounds) + 5)

#endif
