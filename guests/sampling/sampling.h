/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of this guest share. */
#ifndef GUESTS_SAMPLING_H
#define GUESTS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/lib/count.h"
#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"
#include "guests/lib/trap.h"

#define UINH SBI_PMU_CFG_FLAG_SET_UINH
#define SINH SBI_PMU_CFG_FLAG_SET_SINH

/* Input and output of run.S. The offsets are in run.S. */
struct run {
	/* Inputs. */
	uint64_t start_mask;  /* counters to start */
	uint64_t start_value; /* with this value, directly before the code */
	uint64_t rounds;      /* of the code, two instructions each */
	uint64_t user;        /* 1: the code runs in U */
	/* Outputs, from the trap vector, at the last interrupt. */
	uint64_t interrupts;
	uint64_t cause, pc, round;
	uint64_t counter; /* read by the third instruction of the vector */
	uint64_t scountovf, sip, sip_after;
	/* For the vector only. */
	uint64_t t0, stvec, now;
};

/*
 * Starts counters and runs the code with interrupts on. Between the call and the code there is one
 * instruction of S (csrsi or sret). The vector clears sip.LCOFIP, and does not touch the counters.
 */
void run_code(struct run *r);
extern uint32_t run_loop[2], run_vector_read[1];

/* Makes the vector read this counter. */
void run_reads(uint32_t ctr);

/* Returns the number of instructions of the code before the interrupt, without the one before the
 * code. */
static inline uint64_t run_position(const struct run *r)
{
	return 2 * r->round - (r->pc == (uint64_t)&run_loop[1]);
}

/*
 * U code for user_run(): `rounds` of two instructions, then ecall. a0 counts down. In the handler
 * of irq_handle_by(), user_position() returns how many instructions of it came before the
 * interrupt.
 */
void user_code(void);
extern uint32_t user_loop[2];
static inline uint64_t user_position(const struct trap_frame *f, uint64_t rounds)
{
	return 2 * (rounds - f->x[10]) - (f->pc == (uint64_t)&user_loop[1]);
}

/* Return masks of programmable hardware counters and of firmware counters. main.c */
uint64_t hw_counters(void);
uint64_t fw_counters(void);

/*
 * Returns the meaningful bits of scountovf. Firmware may leave OF of unused counters at 1 from boot
 * on; these bits are left out, unless they are in `used`.
 */
uint64_t own_flags(uint64_t scountovf, uint64_t used);

/* Returns the index of the configured counter. 0: refused, and a line says so. */
uint32_t configure(uint64_t mask, uint64_t flags, uint64_t event);

/* Each test returns 0 if everything was right. */
int table(void);
int steps(void);
int unmask(void);
int sweep(void);
int exits(void);
int rate(void);
int chance(void);
int watch(void);
int armed(void);
int leaks(void);
int snapshot(void);
int storm(void);
int pace(void);
int tlb(void);
int two(void);
int limited(void);
int stand(void);

#endif
