/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An epoch is one machine and some thousand operations of random guests on it. If one differs from
 * the model, operations are left out as long as it still differs, so that a short list is printed.
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

/* Runs random steps on the machine of the epoch, and stops after the first that differs. */
void epoch_run(struct epoch *e, struct chance *c, uint32_t steps);
/* Makes a random machine, and runs random guests and steps on it. */
void epoch_random(struct epoch *e, uint64_t seed, uint32_t switches, uint32_t steps);

/*
 * Runs random steps with observers, then the same without: the guests must see the same. On a hart
 * that reports every wrap at once and counts no HS; otherwise reading a counter may report a wrap
 * earlier.
 */
void epoch_twins(struct epoch *e, uint64_t seed, uint32_t switches);

/* Prints the difference, the last steps, and a minimal list of steps that still differs. */
void epoch_report(struct epoch *e);

#endif
