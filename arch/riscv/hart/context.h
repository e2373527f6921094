/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a vcpu's state that assembly accesses. A vcpu is *resident* while its VS CSRs are on
 * a hart. Then sepc and sstatus are in the CSRs as well, and only the integer registers are here
 * between an exit and the next entry.
 */
#ifndef ARCH_RISCV_HART_CONTEXT_H
#define ARCH_RISCV_HART_CONTEXT_H

#include "core/lib/types.h"

/*
 * What a hart has for itself, from low to high: struct pcpu, the trap stack, a guard page, the
 * stack. The trap stack is for a hart's last words, because the stack may be what is wrong.
 */
#define HART_STACK_SIZE  32768UL
#define HART_STACK_TOP   (HART_STACK_SIZE - 16UL) /* initial sp; the hart's pending word is there */
#define HART_STACK_GUARD 12288UL
#define TRAP_STACK_ROOM  4096UL /* it ends at the guard */
#define HART_STACK_ROOM  (HART_STACK_TOP - HART_STACK_GUARD - PAGE_SIZE)

/* Offsets of words that switch.S keeps in struct pcpu, behind the two of the trap guard (trap.c).
 */
#define TRAP_T0    16
#define TRAP_ENDED 24

enum gpr {
	REG_RA = 1,
	REG_SP = 2,
	REG_TP = 4,
	REG_S0 = 8,
	REG_A0 = 10,
	REG_A1,
	REG_A2,
	REG_A3,
	REG_A4,
	REG_A5,
	REG_A6,
	REG_A7
};

/* Kinds of exits, for the statistics, and behind them what is done for a vcpu without one. */
enum vcpu_exit {
	EXIT_ECALL,
	EXIT_TIMER,
	EXIT_IRQ,
	EXIT_LCOFI,
	EXIT_MMIO,
	EXIT_CSR,
	EXIT_WFI,
	EXIT_OTHER,
	VCPU_EXITS,
	EXIT_LOADING = VCPU_EXITS, /* its VM's end is told, memory cleared, the next life loaded */
	VCPU_KINDS
};

/*
 * The last exit of a hart on which stays are noted (core/watch/stays.h), as trap_vector_stays found
 * it. The second word at the top of the hart's stack points to it.
 */
struct noted_exit {
	uint64_t time, scause, sepc, stval, htval, hvip;
	uint64_t eid, fid; /* a7 and a6 */
	uint64_t told;     /* what scause was, when a trace has noted it, and that is ~0 */
	/* Whose it was. Of an exit that is in an account (core/watch/account.h): NULL, and
	 * `accounted` is whose it was. */
	const struct guest_context *of, *accounted;
};

struct guest_context {
	/* x[0] is always 0. While an SBI call is served, a0, a1, s0..s11, t2..t6 and gp are stale
	 * (see switch.S). */
	uint64_t x[32];
	uint64_t hs_sp;      /* top of the stack of its home hart */
	uint64_t entered_hs; /* instret at the last exit */
	/* Instructions of the longest stay in HS, including world switches. 0 while stays are
	 * noted: each one then goes to stay_longest(), which the longest one does anyway. */
	uint64_t hs_longest;
	uint64_t exits[VCPU_EXITS];
	uint64_t hs_insns[VCPU_KINDS]; /* instructions in HS and M for this vcpu, by kind */
	const void *calls; /* struct vsbi_slot[]: the functions that serve SBI extensions */
	/* The callers at the last exit, if samples of it have them (core/watch/samples.c). NULL:
	 * not yet, as each exit of a hart finds it that keeps s0 or is noted. */
	const uint64_t *callers;
};

#endif
