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
 * The memory of each hart, from low to high addresses: struct pcpu, the trap stack, a guard page,
 * the stack. The trap stack is for a hart's last log lines, because the stack itself may have
 * overflowed.
 */
#define HART_STACK_SIZE  32768UL
#define HART_STACK_TOP   (HART_STACK_SIZE - 32UL) /* initial sp; the hart's pending word is here */
#define HART_STACK_STAY  (HART_STACK_TOP + 16UL)  /* the beginning of its stay, see sbi.h */
#define HART_STACK_GUARD 12288UL
#define TRAP_STACK_ROOM  4096UL /* the guard page is above it */
#define HART_STACK_ROOM  (HART_STACK_TOP - HART_STACK_GUARD - PAGE_SIZE)

/* Offsets of words that switch.S keeps in struct pcpu, behind the two of the trap guard (trap.c).
 */
#define TRAP_T0        16
#define TRAP_PANICKING 24

enum gpr { REG_S0 = 8, REG_A0 = 10, REG_A1 = 11, REG_A6 = 16, REG_A7 = 17 };

/* Kinds of exits, for the statistics, followed by kinds of work for a vcpu without an exit. */
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
	EXIT_LOADING = VCPU_EXITS, /* between two lives: logging, clearing and loading memory */
	VCPU_KINDS
};

struct guest_context {
	/* x[0] is always 0. While an SBI call is served, a0, a1, s0..s11, t2..t6 and gp are stale
	 * (see switch.S). */
	uint64_t x[32];
	uint64_t hs_sp; /* top of the stack of its home hart */
	/* Instructions of the longest stay in HS, including world switches. While stays are
	 * recorded it is 0, so that each stay is the longest one and calls stay_record(). */
	uint64_t hs_longest;
	uint64_t exits[VCPU_EXITS];
	uint64_t hs_insns[VCPU_KINDS]; /* instructions in HS and M for this vcpu, by kind */
	const void *calls; /* struct vsbi_slot[]: the functions that serve SBI extensions */
};

#endif
