/* SPDX-License-Identifier: Apache-2.0 */
/* The CSRs of a vcpu, saved here while it is not resident. */
#ifndef ARCH_RISCV_HART_VS_STATE_H
#define ARCH_RISCV_HART_VS_STATE_H

#include "arch/riscv/hart/csr.h"
#include "core/lib/types.h"

struct vs_state {
	/* The guest's pc and privilege mode. While resident, they are in the CSRs. */
	uint64_t sepc, sstatus;
	/* Changed only by HS. Its fields about the last trap are not needed after a world
	 * switch. */
	uint64_t hstatus;
	/* The VS CSRs. */
	uint64_t vsstatus, vsie, vstvec, vsscratch, vsepc, vscause, vstval, vsatp;
	/* On harts with indirect CSRs it does not trap in any guest. The registers that it selects
	 * exist only for guests with an interrupt file. */
	uint64_t vsiselect;
	/* HS has no separate CSRs for these. They hold the guest's values while the guest runs. */
	uint64_t scounteren, senvcfg;
	/* Virtual interrupts: VSSIP, VSTIP, VSEIP and LCOFIP, with the layout of hvip. */
	uint64_t hvip;
	/* Timer compare value in guest time, with Sstc only; otherwise see struct vcpu. */
	uint64_t vstimecmp;
};

#define VS_INTERRUPTS (BIT(IRQ_VSSI) | BIT(IRQ_VSTI) | BIT(IRQ_VSEI))

/* Sets the state after power-on: S-mode at pc, everything else off. */
void vs_state_reset(struct vs_state *vs, uint64_t pc);

/* The optional parts of the VS CSRs that this hart has. */
struct vs_features {
	bool sstc, vsiselect;
	/* Ssctr that no Smstateen can close. Guests are not offered it. */
	bool ctr;
};

/* vs is far from the start of its vcpu: this makes the compiler keep its address in a register. */
#define vs_state_keep(vs) __asm__("" : "+r"(vs))

void vs_state_load(const struct vs_state *vs, const struct vs_features *has);
void vs_state_put(struct vs_state *vs, const struct vs_features *has);

/* Finds them. `isa` is BIT(enum isa_ext), as probed. At boot. */
struct vs_features vs_state_probe(uint64_t isa);

/* With vs_features.ctr: clears the branch records, so that the next guest does not see them. */
void vs_state_clear_ctr(void);

/* Sets up the features that guests can use without an exit, and closes all others. Once per hart.
 * `isa` is BIT(enum isa_ext), as probed. aia: guests with an interrupt file may use AIA
 * registers. */
void vs_state_init_hart(uint64_t isa, bool aia);

/* Whether the hart lets guests use AIA registers after that. */
bool vs_state_opens_aia(void);

/* Whether the hart has Smstateen, and the firmware has opened hstateen0. */
bool vs_state_has_hstateen0(void);

/*
 * Whether the guest's own exceptions go to it without an exit: all that its S-mode would take on a
 * real machine. ECALLs from VS, guest-page faults and virtual instructions always come to HS.
 */
void vs_delegate(bool exceptions);

/* Makes the resident guest take an exception at its current pc. */
void vs_inject(uint64_t cause, uint64_t tval);

#endif
