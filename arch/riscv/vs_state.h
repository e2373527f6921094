/* SPDX-License-Identifier: Apache-2.0 */
/* The CSRs that belong to a vcpu, parked while it is not resident. No policy. */
#ifndef ARCH_VS_STATE_H
#define ARCH_VS_STATE_H

#include "core/lib/types.h"
#include "arch/riscv/csr.h"

struct vs_state {
	/* Where the guest goes on, live in CSRs while resident. */
	uint64_t sepc, sstatus;
	/* It changes by HS's hand only: what it says of the last trap nobody asks after a switch.
	 */
	uint64_t hstatus;
	/* The VS bank. */
	uint64_t vsstatus, vsie, vstvec, vsscratch, vsepc, vscause, vstval, vsatp;
	/* Guests have no indirect CSRs, but where the hart does the selector itself does not trap.
	 */
	uint64_t vsiselect;
	/* Shared with HS, but the guest's own while it runs. */
	uint64_t scounteren, senvcfg;
	/* Virtual interrupts: VSSIP, VSTIP, VSEIP and LCOFIP, as in hvip. */
	uint64_t hvip;
	/* Timer compare, in the guest's time. With Sstc only, else see struct vcpu. */
	uint64_t vstimecmp;
};

#define VS_INTERRUPTS (BIT(IRQ_VSSI) | BIT(IRQ_VSTI) | BIT(IRQ_VSEI))

/* As after power-on: S-mode at pc, all else off. */
void vs_state_reset(struct vs_state *vs, uint64_t pc);

/* What of the VS bank this hart has. */
struct vs_has {
	bool sstc, vsiselect;
	/* Ssctr, and nothing (Smstateen) that could keep a guest from it. Guests are not told. */
	bool records;
};

/* It lies far from the start of its vcpu: the compiler is to keep the address once it has it. */
#define vs_state_keep(vs) __asm__("" : "+r"(vs))

void vs_state_load(const struct vs_state *vs, const struct vs_has *has);
void vs_state_put(struct vs_state *vs, const struct vs_has *has);

/* Is there a vsiselect? At boot. */
bool vs_state_probe_vsiselect(void);

bool vs_state_probe_records(void);

/* With vs_has.records: where the last guest jumped is not for the next one. */
void vs_state_clear_records(void);

/* Per hart, once: what goes to guests without us, and nothing else. isa: BIT(enum isa_ext), as
 * probed. */
void vs_state_init_hart(uint64_t isa);

/*
 * Whether the guest's own exceptions go to it without an exit: everything that its S-mode would get
 * on bare metal. Not ECALL_VS, the guest page faults and virtual instructions, which are ours.
 */
void vs_delegate(bool exceptions);

/* Makes the resident guest take an exception at its current pc. */
void vs_inject(uint64_t cause, uint64_t tval);

#endif
