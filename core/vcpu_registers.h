/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers that few guests write: floating point, and vectors where the hart has them. They are
 * saved only if the guest wrote them since they were loaded, and loaded only when the hart holds
 * another vcpu's; vcpus that never wrote any share one image, zeroes. (A trap at first use would
 * cost more than it saves: an illegal instruction goes through M-mode.)
 */
#ifndef CORE_VCPU_REGISTERS_H
#define CORE_VCPU_REGISTERS_H

#include "core/types.h"

/* A vector register may have as many bits; a hart with more has none for its guests. */
#define VEC_MAX_BYTES 128

struct vcpu;

/* What vec_save() leaves. A vtype of 0 is as good as any for who never wrote one. */
struct vec_image {
	uint64_t csrs[4];
	uint8_t v[32 * VEC_MAX_BYTES] __attribute__((aligned(16)));
};

/* Bytes of one vector register of this hart, with sstatus.VS left on; 0: more than guests can have.
 * Only where the hart has V, at boot. */
uint64_t vec_probe(void);

/* All zeroes. Not resident, home hart or boot. */
void vcpu_registers_reset(struct vcpu *vcpu);

/* The hart will not find its own again in what it holds. Not resident, home hart. */
void vcpu_registers_leave(struct vcpu *vcpu);

/* At a world switch, with sstatus in vcpu->vs. Home hart only. */
void vcpu_registers_put(struct vcpu *vcpu);
void vcpu_registers_load(struct vcpu *vcpu);

#endif
