/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUESTS_BENCH_H
#define GUESTS_BENCH_H

#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"
#include "guests/lib/trap.h"

#define BIT(n) (1UL << (n))

/* Index of the lowest bit; mask is not 0. */
static inline uint64_t first(uint64_t mask)
{
	uint64_t i = 0;

	while (!(mask & BIT(i)))
		i++;
	return i;
}
#define ROUNDS 10000UL

/* before and after are not timed; NULL: nothing to do. rounds: 0 means ROUNDS. */
struct row {
	const char *name;
	void (*op)(void);
	void (*before)(void);
	void (*after)(void);
	uint64_t rounds;
};

/* Prices a row and prints it. */
void bench(const struct row *row);

void bench_calls(uint64_t hartid);
void bench_pmu(void);
void bench_overflow(void);

#endif
