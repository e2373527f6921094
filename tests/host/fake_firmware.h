/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hart whose counters only the firmware can drive, and the SBI PMU of that firmware, like OpenSBI
 * 1.7. For arch/riscv/counters/hpm_sbi.c and hpm_fixed.c. A test can make any of its calls fail.
 */
#ifndef TESTS_HOST_FAKE_FIRMWARE_H
#define TESTS_HOST_FAKE_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

enum firmware_fault {
	FIRMWARE_NOTHING, /* does nothing, and returns an error */
	FIRMWARE_PART,    /* does the first of several counters, and returns an error */
	FIRMWARE_ALL,     /* does everything, and returns an error all the same */
	FIRMWARE_TWICE,   /* like FIRMWARE_NOTHING, for two calls */
	FIRMWARE_ALWAYS,  /* like FIRMWARE_NOTHING, for all following calls */
	FIRMWARE_FAULTS,
};

#define FIRMWARE_NEVER ~0ULL

/* Stops and unconfigures all counters but instret, which runs. No call fails. */
void firmware_reset(void);

/* Makes the n-th call of this function of the PMU extension fail, counted from 0. */
void firmware_fail(uint64_t fid, uint64_t n, enum firmware_fault fault);
/* Returns the number of calls of it since then. */
uint64_t firmware_calls(uint64_t fid);

/* The guest executes one instruction, with or without a miss of the data TLB. Afterwards an LCOFI
 * may be pending. */
void firmware_guest_insn(bool user, bool miss);

/* Returns what the guest reads in a counter that is open to it. */
uint64_t firmware_counter(uint32_t hctr);

#endif
