/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point registers, and vector registers where the hart has them, with their control state.
 * HS never uses them. So they stay in the hart when their vcpu leaves it, and are exchanged when
 * another one is loaded; a vcpu that comes back first, or is alone, pays nothing.
 *
 * sstatus.FS and sstatus.VS are no guide to what has changed: the privileged manual (3.1.6.6) lets
 * a hart report Dirty at any time, and some report Clean after a change: QEMU does, of fcsr and of
 * the vector CSRs (docs/platform.md). So both are always Dirty, which with Off is what every hart
 * has, and nobody looks at them. (A trap at first use would cost more than it saves: an illegal
 * instruction goes through M-mode.)
 */
#ifndef CORE_VM_VCPU_REGISTERS_H
#define CORE_VM_VCPU_REGISTERS_H

#include "core/vm/pcpu.h"
#include "core/lib/types.h"
#include "core/vm/vcpu.h"

/* A vector register may have as many bits; a hart with more has none for its guests. */
#define VEC_MAX_BYTES 128

/* What vec_save() leaves. A vtype of 0 is as good as any for who never wrote one. */
struct vec_image {
	uint64_t csrs[4];
	uint8_t v[32 * VEC_MAX_BYTES] __attribute__((aligned(16)));
};

/* Bytes of one vector register of this hart, with sstatus.VS left on; 0: more than guests can have.
 * Only where the hart has V, at boot. */
uint64_t vec_probe(void);

/* All zeroes. Not resident, home hart. */
void vcpu_registers_reset(struct vcpu *vcpu);

/* What the hart holds of them goes to memory. Not resident, home hart. If there is something to do
 * nobody is resident, for who is resident has them. */
void vcpu_registers_leave(struct vcpu *vcpu);

/* What the next one does when there is something to do. */
void vcpu_registers_exchange(struct pcpu *pcpu, struct vcpu *vcpu) __attribute__((noinline));

/* The hart holds the vcpu's from now on. Home hart, before sstatus is the vcpu's. */
static inline void vcpu_registers_load(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (pcpu->registers_of != vcpu)
		vcpu_registers_exchange(pcpu, vcpu);
}

#endif
