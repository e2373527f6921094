/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence: calls of the PMU extension with the results they must have, reads of counters with
 * the values they must return, and code of known length in between. It is made on the development
 * machine (vpmu_model --record) and linked in.
 */
#ifndef GUESTS_REPLAY_REPLAY_H
#define GUESTS_REPLAY_REPLAY_H

#include <stdint.h>

enum replay_kind {
	REPLAY_CALL,   /* a[]: a0..a4, a6, a7; want: error, value */
	REPLAY_RUN,    /* a[0] rounds of two instructions in VS */
	REPLAY_USER,   /* the same in VU, and its ecall */
	REPLAY_READ,   /* counter a[0] by its CSR; want: 0 and value, or 1: illegal instruction */
	REPLAY_OVF,    /* scountovf; want: value */
	REPLAY_LCOFIP, /* clears sip.LCOFIP; want: whether it was set */
	REPLAY_POKE,   /* writes a[1] to a[0] */
	REPLAY_PEEK,   /* want: the 64 bits at a[0] */
	REPLAY_KINDS,
};

/* Instructions of this program before and after the essential one of each kind. The last entry is
 * for a read that traps. */
#define REPLAY_COSTS (2 * (REPLAY_KINDS + 1))

struct replay_step {
	uint64_t kind;
	uint64_t a[7];
	uint64_t want[2];
};

struct replay_result {
	uint64_t got[2];
};

struct replay_sequence {
	char magic[8];
	uint64_t version;
	uint64_t n;
	uint64_t step_size;
	uint64_t costs[REPLAY_COSTS];
	struct replay_step steps[];
};

/* engine.S */
extern const uint64_t replay_costs[REPLAY_COSTS];
void replay_run(const struct replay_step *steps, struct replay_result *results, uint64_t n);

/* The sequence that was linked in. */
extern const struct replay_sequence sequence;

#endif
