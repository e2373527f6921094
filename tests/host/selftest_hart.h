/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine on which guests/selftest runs on a host: the fake hart, and above it core/'s own
 * dispatch of SBI calls and of trapped instructions. selftest_guest.c is what the guest sees of
 * it. What switch.S, exit.c and sched.c do on a hart is done here as they do it.
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
	bool switches;    /* a world switch, there and back, in each exit */
	bool no_ecalls;   /* ECALL does not retire */
	bool no_overflow; /* as on a hart without LCOFI */
};

/* A fresh machine with the guest in VS. */
void hart_reset(const struct hart_config *config);

/*
 * The guest executes instructions in VS, or in VU (user); overflows are served at once. Stops
 * after the one with which a virtual interrupt came to pend; returns those executed.
 */
uint64_t hart_run(bool user, uint64_t insns);

/* An SBI call: a0 to a7, of which a0 and a1 take the answer. */
void hart_ecall(uint64_t a[8]);

/*
 * An instruction that reads a counter, or anything else that a guest may not simply execute.
 * false: the guest got an illegal instruction.
 */
bool hart_execute(bool user, uint32_t insn, uint64_t *rd);

/* Has sie a bit 13? */
bool hart_has_overflow(void);

/* Is an ECALL an instruction that counts? */
bool hart_counts_ecalls(void);

/* WFI in VS. */
void hart_wfi(void);

/* An instruction that somebody below the guest took the trap of: a firmware event, and an exit of
 * this cause (0: none, M-mode saw to it). */
void hart_trapped(uint32_t fw_code, uint32_t tally_code);

/* Virtual interrupts that pend and are enabled, as in sip. */
uint64_t hart_interrupts(void);

#endif
