/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An epoch is one machine and some thousand operations of random guests on it. One that differs
 * from the model is cut down by leaving operations out, so that what is printed is short.
 */
#ifndef TESTS_HOST_EPOCH_H
#define TESTS_HOST_EPOCH_H

#include "tests/host/random_guest.h"

#define EPOCH_STEPS 4096U

struct epoch {
	struct machine machine;
	uint32_t n;
	struct op ops[EPOCH_STEPS];
};

/* Runs random steps on the machine of the epoch; stops after the one that differs. */
void epoch_run(struct epoch *e, struct chance *c, uint32_t steps);
/* Random machine, guests and steps. */
void epoch_random(struct epoch *e, uint64_t seed, uint32_t switches, uint32_t steps);

/*
 * Random steps with observers, then the same without: the guests must see the same. On a hart that
 * tells every wrap at once and counts no HS: else looking at a counter may tell a guest earlier.
 */
void epoch_twins(struct epoch *e, uint64_t seed, uint32_t switches);

/* Prints the difference, the last steps, and the shortest list of steps that still differs. */
void epoch_report(struct epoch *e);

#endif
