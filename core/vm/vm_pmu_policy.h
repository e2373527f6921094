/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_VM_VM_PMU_POLICY_H
#define CORE_VM_VM_PMU_POLICY_H

#include "core/vm/vm.h"

/*
 * Fills in vm->pmu_policy: the PMU that every hart on which the VM may run can provide, less what
 * the VM tree takes away. It is the same for all vcpus of the VM. Called at boot after all vcpus of
 * all VMs have a home, because the policy depends on who shares a hart.
 */
void vm_pmu_policy_make(struct vm *vm);

#endif
