/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hart of which the firmware alone drives the counters, and that firmware's SBI PMU as
 * OpenSBI 1.7 has it: what arch/riscv/hpm_sbi.c and hpm_fixed.c stand on. Any of its calls fails
 * when it is told to.
 */
#ifndef TESTS_HOST_FAKE_FIRMWARE_H
#define TESTS_HOST_FAKE_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

enum firmware_fault {
	FIRMWARE_NOTHING, /* it does nothing, and says that it failed */
	FIRMWARE_PART,    /* it does its work for the first of several counters */
	FIRMWARE_ALL,     /* it does all of it, and says that it failed all the same */
	FIRMWARE_TWICE,   /* nothing, and nothing the next time */
	FIRMWARE_ALWAYS,  /* nothing, this time and ever after */
	FIRMWARE_FAULTS,
};

#define FIRMWARE_NEVER ~0ULL

/* All counters stopped, none configured, instret running; no call fails. */
void firmware_reset(void);

/* From now on the n-th call of this function of the PMU extension fails, the first being 0. */
void firmware_fail(uint64_t fid, uint64_t n, enum firmware_fault fault);
/* Calls of it since. */
uint64_t firmware_calls(uint64_t fid);

/* The guest executes one instruction, with or without a miss of the data TLB. An LCOFI may pend
 * then. */
void firmware_guest_insn(bool user, bool miss);

/* What it reads in a counter that is open to it. */
uint64_t firmware_counter(uint32_t hctr);

#endif
