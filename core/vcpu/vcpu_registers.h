/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point registers, and vector registers if the hart has them, with their control state. HS
 * never uses them. So they stay in the hart when their vcpu leaves it, and are exchanged when
 * another vcpu is loaded. If the same vcpu is loaded again, there is no exchange.
 *
 * sstatus.FS and sstatus.VS do not show whether the registers have changed: the privileged manual
 * (3.1.6.6) allows a hart to report Dirty at any time, and some report Clean after a change, like
 * QEMU for fcsr and the vector CSRs (docs/platform.md). So both are always Dirty, which every hart
 * supports besides Off, and Tally does not read them. (A trap at the first use would cost more than
 * it saves, because an illegal instruction goes through M-mode.)
 */
#ifndef CORE_VCPU_VCPU_REGISTERS_H
#define CORE_VCPU_VCPU_REGISTERS_H

#include "core/vcpu/vcpu.h"

/* The largest vector register that guests can have, in bytes. If a hart has larger ones, guests
 * have no V. */
#define VEC_MAX_BYTES 128

/* Memory image of the vector state. A guest that never wrote vtype gets 0, a valid value. */
struct vec_image {
	uint64_t csrs[4];
	uint8_t v[32 * VEC_MAX_BYTES] __attribute__((aligned(16)));
};

/* Returns the size of a vector register of this hart in bytes, or 0 if guests cannot use it. Leaves
 * sstatus.VS on. Only for a hart with V; at boot. */
uint64_t vec_probe(void);

/* Sets all registers to 0. The vcpu is not resident. Home hart only. */
void vcpu_registers_reset(struct vcpu *vcpu);

/* Saves the vcpu's registers to memory if the hart holds them. The vcpu is not resident. Home hart
 * only. If the hart holds them, no vcpu is resident at all, because the hart always holds the
 * registers of a resident vcpu. */
void vcpu_registers_leave(struct vcpu *vcpu);

/* The part of vcpu_registers_load() that exchanges registers. */
void vcpu_registers_exchange(struct pcpu *pcpu, struct vcpu *vcpu) __attribute__((noinline));

/* Loads the vcpu's registers into the hart. Home hart only, before sstatus of the vcpu is
 * loaded. */
static inline void vcpu_registers_load(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (pcpu->registers_owner != vcpu)
		vcpu_registers_exchange(pcpu, vcpu);
}

#endif
