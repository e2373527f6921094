/* SPDX-License-Identifier: Apache-2.0 */
/* Time slices that prepare a VM's next life. */
#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/vcpu/stay.h"
#include "core/hart/check.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

void sched_work(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	CHECK(pcpu == this_pcpu());
	pcpu->working |= vcpu->bit;
	pcpu->asks |= vcpu->bit;
	sched_set_ready(vcpu);
	/* The vcpu has no guest that wants to run, so it has no steal time. */
	pcpu->steal_not_begun &= ~vcpu->bit;
	vcpu->fw.ready_since = 0;
}

bool sched_works(const struct vcpu *vcpu)
{
	return vcpu->home->working & vcpu->bit;
}

/* Begins the steal time of all other vcpus that have a guest to run. */
static void others_wait(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, pcpu->ready & ~pcpu->working & ~vcpu->bit)
		sched_begin_steal(pcpu->vcpus[i], now);
}

/* A step begins only when nothing else is pending, because both together might make too long a
 * stay. But interrupts without an end do not postpone the next step for ever. */
#define LOOKS 8U

/* Serves interrupts and requests in the time slice of a working vcpu. Returns whether there were
 * any interrupts; a request comes with one. */
static bool serve_between(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	bool pending;

	sched_set_timer(pcpu, NULL);
	pending = sched_next_stay(pcpu);
	others_wait(pcpu, vcpu);
	return pending;
}

void sched_do_work(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t bit = vcpu->bit;

	requests_disable(&vcpu->requests);
	pcpu->last = vcpu->bit;
	pcpu->slice_end = csr_read(CSR_TIME) + vcpu->slice;
	while (pcpu->working & bit && csr_read(CSR_TIME) < pcpu->slice_end) {
		uint32_t looks = 0;

		pcpu_account_to(pcpu, vcpu, EXIT_LOADING);
		if (!vm_life_work(vcpu->vm)) {
			pcpu->working &= ~bit;
			if (!vcpu->budget.count)
				pcpu->asks &= ~bit;
			sched_off(vcpu);
			sched_enable_requests(vcpu);
		}
		while (serve_between(pcpu, vcpu) && ++looks < LOOKS)
			;
	}
}
