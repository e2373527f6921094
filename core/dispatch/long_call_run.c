/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dispatch/long_call_run.h"
#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/long_call.h"

/* Does one slice, and then other pending work of the hart. */
static void go_on(struct pcpu *pcpu, struct vcpu *vcpu)
{
	bool flags = vcpu->call.slice == hart_flags_slice;
	uint64_t from = csr_read(CSR_TIME);

	long_call_slice(pcpu, vcpu);
	/* Otherwise a short turn would be over before the guest's first instruction. */
	if (flags)
		pcpu->slice_end += csr_read(CSR_TIME) - from;
	if (!vcpu->call.slice && pcpu->has_schedule)
		windows_flags_set(vcpu);
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
