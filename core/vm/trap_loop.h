/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest whose trap handler traps where it begins, and so for ever: a triple fault, were it a PC.
 *
 * Most exceptions of a guest go to it without an exit, so this is noticed in two steps. At the end
 * of a turn, or at a device's interrupt, is the guest where such a loop would be? Then it is a
 * *suspect*, and all its exceptions come to HS, to be passed on as if nothing had been. If they
 * come from the same place with the same cause TRAP_LOOP_MANY times, its handler never having
 * returned (that would clear SPP), that is proof enough.
 */
#ifndef CORE_VM_TRAP_LOOP_H
#define CORE_VM_TRAP_LOOP_H

#include "arch/riscv/csr.h"
#include "core/vm/vcpu.h"

/* A vcpu alone on its hart is looked at so often, if nothing else makes it exit. */
#define TRAP_LOOP_LOOKS_HZ 1U

/* Passes an exception on to the resident guest, or ends its VM. */
void trap_inject(struct vcpu *vcpu, uint64_t cause, uint64_t tval);

/* Makes the resident vcpu a suspect, or not any longer. */
void trap_loop_judge(struct vcpu *vcpu);

/*
 * At an interrupt from outside, which may be the only kind that comes: on QEMU under -icount a
 * guest whose handler makes a page fault with its first instruction executes none, and time stands
 * still (docs/platform.md). The resident vcpu's turn need not have ended.
 */
void trap_loop_knock(struct vcpu *vcpu);

/* Nearly every guest is in VU or outside of handlers for traps from VS. */
static inline bool trap_loop_seems(void)
{
	return csr_read(CSR_VSSTATUS) & SSTATUS_SPP;
}

/* At the end of a turn. */
static inline void trap_loop_look(struct vcpu *vcpu)
{
	if (vcpu->suspect || trap_loop_seems())
		trap_loop_judge(vcpu);
}

#endif
