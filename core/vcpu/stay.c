/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/port.h"
#include "core/vcpu/stay.h"
#include "core/vcpu/vcpu.h"

uint64_t stay_record_of(struct pcpu *pcpu, uint64_t stay)
{
	stay_record(&pcpu->stay_vcpu->ctx, pcpu->stay_cause, stay);
	return pcpu_top(pcpu)->stay_start;
}

uint64_t pcpu_account_stay(struct pcpu *pcpu)
{
	return pcpu_account_stay_inline(pcpu);
}

void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why)
{
	if (pcpu->stay_vcpu != vcpu || pcpu->stay_cause != why)
		pcpu_account_stay(pcpu);
	pcpu->stay_vcpu = vcpu;
	pcpu->stay_cause = why;
}
