/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/long_call.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/vcpu/hart_flags.h"

void long_call_begin(struct vcpu *vcpu, const struct long_call *call)
{
	vcpu->call = *call;
	vcpu->flags_due |= vcpu->hart_flags;
	pcpu_resched(this_pcpu()); /* makes the call leave the fast path */
}

__attribute__((noinline)) void long_call_slice(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_account_stay(pcpu);
	pcpu->stay_of = vcpu;
	pcpu->stay_why = EXIT_ECALL;
	if (!vcpu->call.slice(vcpu)) {
		vcpu->call.slice = NULL;
		hart_flags_begin_slices(vcpu);
	}
}

/* Does one slice, and then what else the hart has to do. */
static void go_on(struct pcpu *pcpu, struct vcpu *vcpu)
{
	bool flags = vcpu->call.slice == hart_flags_slice;
	uint64_t from = csr_read(CSR_TIME);

	long_call_slice(pcpu, vcpu);
	/* Or a short turn would be over before the guest's first instruction. */
	if (flags)
		pcpu->slice_end += csr_read(CSR_TIME) - from;
	if (!vcpu->call.slice && pcpu->scheduled)
		windows_flags_made(vcpu);
	(void)sched_next_stay(pcpu);
}

struct vcpu *long_call_finish(struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	do {
		go_on(pcpu, vcpu);
		vcpu = sched_next(pcpu);
	} while (vcpu->call.slice);
	if (platform.roam)
		vcpu_roam(vcpu);
	return vcpu;
}
