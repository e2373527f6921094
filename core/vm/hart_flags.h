/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that read the hart's own scountovf. Without Ssccfg nothing makes that read trap, so Tally
 * keeps the OF bits of the hart equal to those of the guest (arch/riscv/hpm_flags.c). Only VMs
 * whose vcpus have their harts to themselves get this (core/vm/vm_overflow.h). All functions are
 * called on the home hart.
 */
#ifndef CORE_VM_HART_FLAGS_H
#define CORE_VM_HART_FLAGS_H

#include "core/vm/vcpu.h"

/* Prepares the hart for a vcpu with hart_flags that is being started. */
void hart_flags_begin(struct vcpu *vcpu);

/* Sets the hart's OF bits to those of the resident vcpu, which has hart_flags. */
void hart_flags_show(struct vcpu *vcpu);

/* Must be called before each entry to the guest. vcpu is resident. */
static inline void hart_flags_settle(struct vcpu *vcpu)
{
	if (vcpu->hart_flags)
		hart_flags_show(vcpu);
}

#endif
