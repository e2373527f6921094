/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects a guest whose trap handler traps at its beginning, and therefore for ever. On a PC this
 * would be a triple fault.
 *
 * Most exceptions go to the guest without an exit, so detection has two steps. At the end of a time
 * slice, and at a device interrupt, Tally checks whether the guest is where such a loop would be.
 * If so, the vcpu is a *suspect*: all its exceptions come to HS, which injects them unchanged. If
 * TRAP_LOOP_MANY exceptions come from the same place with the same cause, and the handler never
 * returns in between (that would clear SPP), the VM is stopped.
 */
#ifndef CORE_VCPU_TRAP_LOOP_H
#define CORE_VCPU_TRAP_LOOP_H

#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vcpu.h"

/* Frequency of checks of a vcpu that is alone on its hart and has no other exits. */
#define TRAP_LOOP_CHECK_HZ 1U

/* Injects an exception into the resident guest, or ends its VM. */
void trap_inject(struct vcpu *vcpu, uint64_t cause, uint64_t tval);

/* Decides whether the resident vcpu is a suspect. */
void trap_loop_update_suspect(struct vcpu *vcpu);

/*
 * Checks the resident vcpu at a device interrupt, before the end of its time slice. There may be no
 * other exit: if the first instruction of the handler causes a page fault, QEMU with -icount
 * executes no instruction, so time stands still (docs/platform.md).
 */
void trap_loop_check_irq(struct vcpu *vcpu);

/* False for nearly every guest: it is in VU-mode, or not in a handler for a trap from VS-mode. */
static inline bool trap_loop_is_possible(void)
{
	return csr_read(CSR_VSSTATUS) & SSTATUS_SPP;
}

/* Checks the resident vcpu at the end of its time slice. */
static inline void trap_loop_check(struct vcpu *vcpu)
{
	if (vcpu->trap_loop_suspect || trap_loop_is_possible())
		trap_loop_update_suspect(vcpu);
}

#endif
