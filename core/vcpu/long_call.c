/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/long_call.h"

#include "core/vcpu/hart_flags.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/stay.h"
#include "core/vcpu/vcpu.h"

void long_call_begin(struct vcpu *vcpu, const struct long_call *call)
{
	vcpu->call = *call;
	vcpu->flags_due |= vcpu->hart_flags;
	pcpu_resched(this_pcpu()); /* makes the call leave the fast path */
}

__attribute__((noinline)) void long_call_slice(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_account_stay(pcpu);
	pcpu->stay_vcpu = vcpu;
	pcpu->stay_cause = vcpu->call.cause;
	/* Work before the slice may have started counters, and the slice may read them. */
	hpm_failures_settle_on(pcpu, vcpu);
	if (!vcpu->call.slice(vcpu)) {
		vcpu->call.slice = NULL;
		vcpu->call.cause = EXIT_ECALL;
		hart_flags_begin_slices(vcpu);
	}
}
