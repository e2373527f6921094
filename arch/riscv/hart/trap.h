/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between switch.S and C code. core/ defines the handlers. They run in HS-mode on the
 * hart's own stack with interrupts off.
 */
#ifndef ARCH_RISCV_HART_TRAP_H
#define ARCH_RISCV_HART_TRAP_H

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/sbi.h"

/* a0 is the low half, a1 the high half. For a structure of two longs, gcc would also reserve
 * stack. */
typedef unsigned __int128 vsbi_ret;

/*
 * SBI calls of the resident vcpu are dispatched to the functions in ctx->calls by extension and
 * function; this one serves those that are unknown. a0 to a5 are the arguments of the call, a6 is
 * the function and a7 the extension. The return value goes into the guest's a0 and a1. If the hart
 * then has pending work, exit_long(ctx, ~EXIT_ECALL) is called next.
 */
#define VSBI_SLOTS     32U
#define VSBI_FUNCTIONS 15U
vsbi_ret vsbi_not_supported(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                            uint64_t a5, uint64_t fid, uint64_t eid);

/*
 * Emulates a trapped instruction if it is a CSR read that the guest may do. raw is the instruction,
 * as in stval, and not 0; ignored only reserves a register for the return value. Returns 8 times
 * the number of the register whose new value is in ctx->x[]; x[0] may have changed, too. If the
 * hart has pending work, returns CSR_READ_PENDING less that number, and exit_long(ctx, ~EXIT_CSR)
 * is called next. Returns CSR_READ_NONE for other instructions, and exit_long() is called next.
 */
#define CSR_READ_NONE    (-1L)
#define CSR_READ_PENDING (-2L)
long csr_read_fast(uint64_t ignored, uint64_t raw);

/*
 * Emulate a load from, or a store to, an emulated device, if htinst is the instruction. Return 8
 * times the number of the register whose new value is in ctx->x[], 0 for a store; x[0] may have
 * changed, too. If the hart then has pending work, exit_long(ctx, ~EXIT_MMIO) is called next.
 * Return MMIO_NONE for everything else, and exit_long() is called next.
 */
#define MMIO_NONE (-1L)
long mmio_load(uint64_t htinst);
long mmio_store(uint64_t htinst);

/* Handles the hart's LCOFI. If the hart then has pending work, exit_long(ctx, ~EXIT_LCOFI) is
 * called next. */
void lcofi_fast(void);

/* The context of the resident vcpu; in the functions above and what they call only. It is used from
 * where it is, in tp. */
#ifdef __riscv
static inline struct guest_context *this_context(void)
{
	register struct guest_context *ctx __asm__("tp");

	__asm__("" : "=r"(ctx));
	return ctx;
}
#endif

/* Whether exits of this hart put s0 into ctx->x[] at once, without which it is there only when all
 * registers are: exit_long() and what follows it; and whether they are noted in the hart's struct
 * noted_exit. */
void trap_keep(bool s0, bool exit);

/* This stay of the context's vcpu is longer than ctx->hs_longest, which becomes so long; or stays
 * are noted, and so is this one (core/watch/stays.h). Called when it is accounted. */
void stay_longest(struct guest_context *ctx, uint64_t why, uint64_t insns);

/* Handles any other exit (scause), or the rest of one that left the fast path (~EXIT_*). It
 * enters the vcpu that runs next, and never returns, so nobody restores the registers that it
 * would save. */
_Noreturn void exit_long(struct guest_context *ctx, uint64_t scause);

#ifdef TALLY_DEBUG
/* make DEBUG=1: called first at each exit, and last before each entry; this_context() is valid. */
void check_exit(void);
void check_entry(void);
#endif

/* Panic after an unexpected trap in HS, or where the function that returns to `from` has found its
 * frame overwritten. On the trap stack: sp was not to be trusted. It is that of hart 0 if sp was on
 * no hart's stack. */
_Noreturn void trap_in_hs(uint64_t scause, uint64_t sepc, uint64_t stval, uint64_t sp);
_Noreturn void frame_overwritten(uint64_t from);

_Noreturn void enter_guest(struct guest_context *ctx);

void fp_save(uint64_t fp[33]);
void fp_restore(const uint64_t fp[33]);
void fp_exchange(uint64_t save[33], const uint64_t restore[33]);

/* vector.S. Only if the hart has V, with sstatus.VS on: return the size of a register in bytes;
 * save and restore v0 to v31, in order, with vstart, vtype, vl and vcsr. */
uint64_t vec_bytes(void);
void vec_save(void *v, uint64_t csrs[4]);
void vec_restore(const void *v, const uint64_t csrs[4]);

/*
 * Expected traps: between begin and end, a trap in HS skips its instruction, which must be four
 * bytes long. trap_guard_end() returns the cause of the last trap, or -1. sepc, scause and the
 * modes in sstatus and hstatus of the current exit are preserved. Guards do not nest.
 */
struct trap_guard {
	uint64_t sepc, sstatus, hstatus, scause;
};

void trap_guard_begin(struct trap_guard *guard);
uint64_t trap_guard_end(const struct trap_guard *guard);

#endif
