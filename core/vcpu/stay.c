/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/port.h"
#include "core/vcpu/stay.h"
#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/vcpu/vcpu.h"

void pcpu_account_stay(struct pcpu *pcpu)
{
	struct vcpu *vcpu = pcpu->stay_vcpu;
	uint64_t now = csr_read(CSR_INSTRET);
	uint64_t stay = now - *pcpu_stay_start(pcpu);

	*pcpu_stay_start(pcpu) = now;
	if (!vcpu)
		return;
	CHECK(vcpu_home(vcpu) == pcpu);
	vcpu->ctx.hs_insns[pcpu->stay_cause] += stay;
	if (__builtin_expect(stay > vcpu->ctx.hs_longest, 0))
		stay_record(&vcpu->ctx, pcpu->stay_cause, stay);
}

void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why)
{
	if (pcpu->stay_vcpu != vcpu || pcpu->stay_cause != why)
		pcpu_account_stay(pcpu);
	pcpu->stay_vcpu = vcpu;
	pcpu->stay_cause = why;
}
