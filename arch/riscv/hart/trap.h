/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the assembly files for C code. */
#ifndef ARCH_RISCV_HART_TRAP_H
#define ARCH_RISCV_HART_TRAP_H

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/sbi.h"

/* The context of the resident vcpu, only in the functions of port.h and their callees. It stays in
 * tp. */
#ifdef __riscv
static inline struct guest_context *this_context(void)
{
	register struct guest_context *ctx __asm__("tp");

	__asm__("" : "=r"(ctx));
	return ctx;
}
#endif

/* on: each exit of this hart puts s0 into ctx->x[], and calls record_exit().
 * Otherwise s0 is in ctx->x[] only when all registers are, in exit_slow() and its callees. */
void trap_record(bool on);

_Noreturn void enter_guest(struct guest_context *ctx);

void fp_save(uint64_t fp[33]);
void fp_restore(const uint64_t fp[33]);
void fp_exchange(uint64_t save[33], const uint64_t restore[33]);

/* From vector.S, only if the hart has V, with sstatus.VS on. Return the size of a register in
 * bytes; save and restore v0 to v31, in order, with vstart, vtype, vl and vcsr. */
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

struct trap_guard trap_guard_begin(void);
uint64_t trap_guard_end(const struct trap_guard *guard);

/* Whether HS executes a statement, or reads a CSR, without a trap. */
#define hs_can(statement)                                                                          \
	({                                                                                         \
		struct trap_guard guard_ = trap_guard_begin();                                     \
		statement;                                                                         \
		trap_guard_end(&guard_) == ~0UL;                                                   \
	})
#define csr_is_readable(csr) hs_can((void)csr_read_guarded(csr))

#endif
