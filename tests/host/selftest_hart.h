/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine on which guests/selftest runs on a host: the fake hart and, above it, core/'s own
 * dispatch of SBI calls and trapped instructions. selftest_guest.c is the guest's side. This file
 * does what switch.S, exit.c and sched.c do on a hart.
 */
#ifndef TESTS_HOST_SELFTEST_HART_H
#define TESTS_HOST_SELFTEST_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/fake_hart.h"

struct hart_config {
	struct fake_hart_config hart;
	bool trap_reads;  /* as pmu-reads = "trap" */
	bool cheap_moves; /* as with the ssccfg back end */
	bool snapshot;    /* as pmu-snapshot = "on" */
	bool switches;    /* a world switch away and back in each exit */
	bool no_ecalls;   /* ECALL does not retire */
	bool no_overflow; /* as on a hart without LCOFI */
};

/* Makes a fresh machine with the guest in VS. */
void hart_reset(const struct hart_config *config);

/*
 * The guest executes instructions in VS, or in VU (user). Overflows are served at once. Stops after
 * the one with which a virtual interrupt became pending. Returns the number executed.
 */
uint64_t hart_run(bool user, uint64_t insns);

/* Makes an SBI call with a0 to a7; the result is in a0 and a1. */
void hart_ecall(uint64_t a[8]);

/*
 * Executes an instruction that reads a counter, or another that a guest cannot simply execute.
 * Returns false if the guest got an illegal-instruction exception.
 */
bool hart_execute(bool user, uint32_t insn, uint64_t *rd);

/* Whether sie has bit 13. */
bool hart_has_overflow(void);

/* Whether an ECALL counts as an instruction. */
bool hart_counts_ecalls(void);

/* WFI in VS. */
void hart_wfi(void);

/* An instruction whose trap was handled below the guest: a firmware event, and an exit of this kind
 * (0: none, M-mode handled it). */
void hart_trapped(uint32_t fw_code, uint32_t tally_code);

/* Returns virtual interrupts that are pending and enabled, with the layout of sip. */
uint64_t hart_interrupts(void);

#endif
