/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/long_call.h"

#include "arch/riscv/csr.h"
#include "core/vm/hart_flags.h"
#include "core/vm/platform.h"
#include "core/vm/sched.h"
#include "core/vm/vcpu_move.h"

void long_call_begin(struct vcpu *vcpu, const struct long_call *call)
{
	vcpu->call = *call;
	vcpu->flags_due |= vcpu->hart_flags;
	pcpu_resched(this_pcpu()); /* makes the call leave the fast path */
}

/* Does one slice, and then what else the hart has to do. */
static void go_on(struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	pcpu_account_stay(pcpu);
	pcpu->stay_of = vcpu;
	pcpu->stay_why = EXIT_ECALL;
	if (!vcpu->call.slice(vcpu)) {
		vcpu->call.slice = NULL;
		hart_flags_begin_slices(vcpu);
	}
	(void)sched_next_stay(pcpu);
}

struct vcpu *long_call_finish(struct vcpu *vcpu)
{
	do {
		go_on(vcpu);
		vcpu = sched_next(this_pcpu());
	} while (vcpu->call.slice);
	if (platform.roam)
		vcpu_roam(vcpu);
	return vcpu;
}
