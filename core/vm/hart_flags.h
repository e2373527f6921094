/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that read the hart's own scountovf, since a hart without Ssccfg cannot make such a read
 * trap: Tally keeps the hart's flags as the guest's should be (arch/riscv/hpm_flags.c). Only for
 * VMs that have their harts to themselves (core/vm/vm_overflow.h). All of it is for the home hart.
 */
#ifndef CORE_VM_HART_FLAGS_H
#define CORE_VM_HART_FLAGS_H

#include "core/vm/vcpu.h"

/* A vcpu with hart_flags begins a life. */
void hart_flags_begin(struct vcpu *vcpu);

/* The hart's flags become those of a vcpu with hart_flags. Resident. */
void hart_flags_show(struct vcpu *vcpu);

/* To be called before any vcpu goes on. Resident. */
static inline void hart_flags_settle(struct vcpu *vcpu)
{
	if (vcpu->hart_flags)
		hart_flags_show(vcpu);
}

#endif
