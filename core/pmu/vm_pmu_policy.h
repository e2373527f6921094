/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PMU_VM_PMU_POLICY_H
#define CORE_PMU_VM_PMU_POLICY_H

#include "core/vcpu/vm.h"

/* Returns the counters that a VM can be given if all its harts have the programmable ones `hctrs`.
 * A guest may ask for cycle and instret by index. With hart_flags a programmable counter would back
 * them, whose OF bit is a different one. */
static inline uint64_t vm_pmu_hctrs(uint64_t hctrs, bool hart_flags)
{
	return hctrs && !hart_flags ? hctrs | HCTRS_FIXED : hctrs;
}

/*
 * Fills in vm->pmu_policy: the PMU that every hart of the VM can provide, less the restrictions of
 * the VM tree. It is the same for all vcpus of the VM. Called at boot after all vcpus of all VMs
 * have a home, because the policy depends on which vcpus share a hart.
 */
void vm_pmu_policy_make(struct vm *vm);

#endif
