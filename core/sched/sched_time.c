/* SPDX-License-Identifier: Apache-2.0 */
/* The times at which blocked vcpus are woken. */
#include "arch/riscv/hart/csr.h"
#include "core/sched/run_state.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/vm.h"
#include "core/watch/port.h"

/* When other interrupts came is unknown. A timer may have expired before the vcpu left, while it
 * was resident. */
void sched_steal_since_timer(struct vcpu *vcpu)
{
	uint64_t turned_at = vcpu->home->turned_at;
	uint64_t timer =
	    vcpu->home->vs_features.sstc ? vcpu->vs.vstimecmp - vcpu->vm->htimedelta : vcpu->timer;

	if (run_state_sleeps(&vcpu->run) && vcpu->vs.vsie & BIT(IRQ_STI) &&
	    vcpu_timer_deadline(vcpu) <= turned_at && timer <= turned_at)
		vcpu->stats.steal_since = timer > vcpu->stats.left_at ? timer : vcpu->stats.left_at;
}

void sched_wake_in_time(struct vcpu *vcpu)
{
	uint64_t timer, other;

	if (vcpu_has_interrupt(vcpu)) {
		sched_wake(vcpu);
		return;
	}
	timer = vcpu_timer_deadline(vcpu);
	other = vcpu_deadline(vcpu);
	vcpu_wake_at(vcpu, timer < other ? timer : other);
	if (vcpu->guest_file && vcpu->vs.vsie & BIT(IRQ_SEI))
		guest_file_enable_irq(vcpu);
}
