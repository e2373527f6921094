/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/vm_life.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/sched/run_state.h"
#include "core/sched/sched.h"
#include "core/sched/world_switch.h"
#include "core/vcpu/guest_file.h"
#include "core/watch/observe.h"

void vcpu_remove(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	vcpu_end_observers(vcpu);
	/* First, because vpmu_reset() may find that the vcpu has spent its budget. */
	if (vcpu_is_current(vcpu))
		vpmu_reset(&vcpu->pmu);
	sched_off(vcpu);
	if (vcpu_is_current(vcpu)) {
		vcpu_cpu_time_stop(&vcpu->stats, csr_read(CSR_TIME));
		vcpu_put(vcpu->home, vcpu);
	} else {
		vpmu_clear(&vcpu->pmu);
	}
	if (vcpu->guest_file)
		guest_file_end(vcpu);
	vcpu->stats.fw_watched = 0;
	vcpu_steal_drop(vcpu);
	vcpu->timer = ~0UL;
	sched_enable_requests(vcpu);
	vm_vcpu_stopped(vcpu);
}
