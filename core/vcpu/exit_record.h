/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of an exit from VS/VU into HS: 48 bytes that every recorder stores or reads.
 *
 *      0        8       16        24       32                    40
 *   +--------+--------+---------+--------+---------------------+-------------------------+
 *   | time   | vcpu   | scause  | sepc   | stval, or the SBI   | guest physical address, |
 *   | ticks  |        |         |        | extension's id (a7) | or the function's id    |
 *   +--------+--------+---------+--------+---------------------+-------------------------+
 *
 * exit_record_make() alone makes it: for records of stays and for accounts in record_exit(), before
 * the stay begins (core/watch/stays.c); for `trace` and crash-exits in exit_slow(); and for `trace`
 * at each SBI call (core/watch/trace.c).
 */
#ifndef CORE_VCPU_EXIT_RECORD_H
#define CORE_VCPU_EXIT_RECORD_H

#include "arch/riscv/hart/csr.h"
#include "core/lib/types.h"

struct vcpu;

struct exit_record {
	uint64_t time;           /* host time when the record was made */
	const struct vcpu *vcpu; /* the vcpu that left VS or VU */
	uint64_t scause;
	/* As in the CSR: in a record that is made after an SBI call or a fast path has advanced it,
	 * it is the next instruction's. */
	uint64_t sepc;
	union {
		struct {
			uint64_t stval;
			uint64_t gpa; /* htval << 2: bits 1:0 of the address are those of stval */
		};
		struct {
			uint64_t eid, fid; /* SBI extension and function: see exit_is_ecall() */
		};
	};
};

/* Whether eid and fid are valid, otherwise stval and gpa are. */
static inline bool exit_is_ecall(const struct exit_record *exit)
{
	return exit->scause == CAUSE_ECALL_VS;
}

/* Makes the record of this vcpu's exit, which is being handled, from the hart's CSRs and from a6
 * and a7 in this_context(). Home hart, from the exit until one of these CSRs may have changed. */
void exit_record_make(struct exit_record *exit, const struct vcpu *vcpu);

#endif
