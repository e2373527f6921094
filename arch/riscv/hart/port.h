/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All calls of arch/ to higher rooms, which define these functions: the handlers of exits and
 * traps. They run in HS-mode on the hart's own stack with interrupts off.
 */
#ifndef ARCH_RISCV_HART_PORT_H
#define ARCH_RISCV_HART_PORT_H

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/sbi.h"

/* a0 is the low half, a1 the high half. For a structure of two longs, gcc would reserve stack as
 * well. */
typedef unsigned __int128 vsbi_ret;

/*
 * SBI calls of the resident vcpu are dispatched to the functions in ctx->calls by extension and
 * function; this one serves unknown calls. a0 to a5 are the arguments of the call, a6 is the
 * function and a7 the extension. The return value goes into the guest's a0 and a1. If the hart has
 * pending work then, exit_slow(ctx, ~EXIT_ECALL) is called next.
 */
#define VSBI_SLOTS     32U
#define VSBI_FUNCTIONS 15U
vsbi_ret vsbi_not_supported(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                            uint64_t a5, uint64_t fid, uint64_t eid);

/*
 * Emulates a trapped instruction if it is a CSR read that the guest may do. raw is the instruction,
 * as in stval, and not 0; ignored only reserves a register for the return value. Returns 8 times
 * the number of the register whose new value is in ctx->x[]; x[0] may have changed, too. If the
 * hart has pending work, returns CSR_READ_PENDING less that number, and exit_slow(ctx, ~EXIT_CSR)
 * is called next. Returns CSR_READ_NONE for other instructions, and exit_slow() is called next.
 */
#define CSR_READ_NONE    (-1L)
#define CSR_READ_PENDING (-2L)
long csr_read_fast(uint64_t ignored, uint64_t raw);

/*
 * Emulate a load from, or a store to, an emulated device, if htinst is the instruction. Return 8
 * times the number of the register whose new value is in ctx->x[], 0 for a store; x[0] may have
 * changed, too. If the hart then has pending work, exit_slow(ctx, ~EXIT_MMIO) is called next.
 * Return MMIO_NONE for everything else, and exit_slow() is called next.
 */
#define MMIO_NONE (-1L)
long mmio_load(uint64_t htinst);
long mmio_store(uint64_t htinst);

/* Handles the hart's LCOFI. If the hart then has pending work, exit_slow(ctx, ~EXIT_LCOFI) is
 * called next. */
void lcofi_fast(void);

/* Called first at each exit, before its stay begins, on a hart where trap_record() is on. Of the
 * integer registers ctx->x[] has those that C may clobber, and s0. */
void record_exit(void);

/* Called when a stay of the context's vcpu is accounted that is longer than ctx->hs_longest, which
 * it updates, or that is to be recorded (core/watch/stays.h). */
void stay_record(struct guest_context *ctx, uint64_t why, uint64_t insns);

/* Handles any other exit (scause), or the rest of one that left the fast path (~EXIT_*). It enters
 * the vcpu that runs next, and never returns, so it need not save registers. */
_Noreturn void exit_slow(struct guest_context *ctx, uint64_t scause);

#ifdef TALLY_DEBUG
/* make DEBUG=1: called first at each exit, and last before each entry; this_context() is valid. */
void check_exit(void);
void check_entry(void);
#endif

/* Panic after an unexpected trap in HS, or because the function that returns to `from` has found
 * its frame overwritten. On the trap stack, because sp may be invalid; on that of hart 0 if sp was
 * on no hart's stack. */
_Noreturn void trap_in_hs(uint64_t scause, uint64_t sepc, uint64_t stval, uint64_t sp);
_Noreturn void stack_smashed(uint64_t from);

/*
 * Returns the counters for which the firmware has refused a start, a stop, or the requested filter
 * or OF bit since the last call. A counter that should run may stand still or count wrong. A
 * counter that should be stopped may run, but its value is right until HS-mode is left.
 * hpm_failed() is called when a counter was refused; core/ then calls hpm_take_failures() before it
 * enters a guest.
 */
void hpm_failed(void);

#endif
