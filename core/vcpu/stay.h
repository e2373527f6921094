/* SPDX-License-Identifier: Apache-2.0 */
/* The current stay in HS, and the vcpu that it is accounted to. */
#ifndef CORE_VCPU_STAY_H
#define CORE_VCPU_STAY_H

#include "arch/riscv/hart/context.h"
#include "core/hart/check.h"
#include "core/hart/pcpu.h"
#include "core/vcpu/vcpu.h"

/* Accounts the current stay in HS so far, and begins a new one. Returns instret at its
 * beginning. Called on this hart. */
uint64_t pcpu_account_stay(struct pcpu *pcpu);

/* For the next function: the stay, of this many instructions, is the longest or is recorded. */
uint64_t stay_record_of(struct pcpu *pcpu, uint64_t stay);

/* The same as pcpu_account_stay(), where time matters more than code size. */
static inline __attribute__((always_inline)) uint64_t pcpu_account_stay_inline(struct pcpu *pcpu)
{
	struct vcpu *vcpu = pcpu->stay_vcpu;
	uint64_t now = csr_read(CSR_INSTRET);
	uint64_t stay = now - pcpu_top(pcpu)->stay_start;

	pcpu_top(pcpu)->stay_start = now;
	if (!vcpu)
		return now;
	CHECK(vcpu_home(vcpu) == pcpu);
	vcpu->ctx.hs_insns[pcpu->stay_cause] += stay;
	if (__builtin_expect(stay > vcpu->ctx.hs_longest, 0))
		return stay_record_of(pcpu, stay);
	return now;
}

/* Accounts the current stay to this vcpu and cause from now on. Called on the vcpu's home hart. */
void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why);

#endif
