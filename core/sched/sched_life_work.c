/* SPDX-License-Identifier: Apache-2.0 */
/* Time slices that prepare a VM's next life (TURN_WORK). */
#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/vcpu/stay.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

bool sched_has_life_work(const struct vcpu *vcpu)
{
	return vcpu->run.turns & TURN_WORK;
}

/* Begins the steal time of all other vcpus that have a guest to run. */
static void others_wait(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, pcpu->ready & ~vcpu->bit) {
		if (!sched_has_life_work(pcpu->vcpus[i]))
			vcpu_steal_begin(pcpu->vcpus[i], now);
	}
}

/* A step begins only when nothing else is pending, because both together might make too long a
 * stay. But interrupts without an end do not postpone the next step for ever. */
#define LOOKS 8U

void sched_do_life_work(struct pcpu *pcpu, struct vcpu *vcpu)
{
	requests_disable(&vcpu->requests);
	pcpu->last = vcpu->bit;
	pcpu->slice_end = csr_read(CSR_TIME) + vcpu->slice;
	others_wait(pcpu, vcpu);
	/* Between two pieces its window may end, or it may move. */
	while (pcpu->ready & vcpu->bit && sched_has_life_work(vcpu) && /* WAITS */
	       csr_read(CSR_TIME) < pcpu->slice_end) {
		pcpu_account_to(pcpu, vcpu, EXIT_LOADING);
		if (!vm_life_work(vcpu->vm)) {
			vcpu_turn_over(vcpu, TURN_WORK);
			vcpu_wake_at(vcpu, ~0UL);
			sched_enable_requests(vcpu);
		}
		for (uint32_t looks = 0; looks < LOOKS; looks++) {
			sched_set_timer(pcpu, NULL);
			if (!sched_next_stay(pcpu))
				break;
			/* Only what has been served makes others ready. */
			others_wait(pcpu, vcpu);
		}
	}
}
