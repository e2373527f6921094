/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUESTS_BENCH_H
#define GUESTS_BENCH_H

#include "guests/lib/count.h"
#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"
#include "guests/lib/trap.h"

#define ROUNDS 10000UL

typedef void (*operation_t)(void);

/* before() and after() are not timed; NULL: none. rounds: 0 means ROUNDS. */
struct row {
	const char *name;
	operation_t op;
	operation_t before;
	operation_t after;
	uint64_t rounds;
};

/* Measures the cost of a row and prints it. */
void bench(const struct row *row);

void bench_calls(uint64_t hartid);
void bench_registers(uint64_t hw);
void bench_pmu(uint64_t hw, uint64_t fw); /* masks of counters */
void bench_reads(uint64_t hw);
void bench_overflow(void);
void bench_first(uint64_t hw); /* must be called before any event was configured */

/* For several VMs at once. */
void bench_switch(uint64_t hw, uint64_t fw);

/* For a VM whose counter reads all trap. */
void bench_read_by_policy(uint64_t hw);

/* Returns the operation that reads counter 0 or 2..31: two instructions, `csrr` and `ret`. */
operation_t read_op(uint64_t ctr);

#endif
