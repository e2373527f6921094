/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences for guests/replay, which makes the same calls on a real hart under Tally and compares
 * each answer and value. The guest of the fake hart behaves like that program: between two calls it
 * spends as many instructions as the program's own code takes there.
 *
 * The file, in little-endian 64-bit words:
 *   magic "TALLYSEQ", version, number of steps, bytes of a step
 *   for each kind, and for an illegal read: instructions of the program in such a step
 *   the steps: struct replay_step
 */
#ifndef TESTS_HOST_RECORD_H
#define TESTS_HOST_RECORD_H

#include <stdbool.h>
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

struct replay_step {
	uint64_t kind;
	uint64_t a[7];
	uint64_t want[2];
};

/* Writes about n steps, of a hart whose instret guests get or do not get. Returns 1, after printing
 * why, if the file cannot be written, or if the library differs from the model. */
int record(unsigned long n, unsigned long seed, const char *path, bool instret);

#endif
