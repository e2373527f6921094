/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_VM_VM_PMU_POLICY_H
#define CORE_VM_VM_PMU_POLICY_H

#include "core/vm/vm.h"

/*
 * Fills vm->pmu_policy: the PMU that every hart on which the VM may run can give, less what its VM
 * tree takes away. All its vcpus see the same. At boot, once all vcpus of all VMs have their harts,
 * since what a VM is offered depends on who is alone on a hart.
 */
void vm_pmu_policy_make(struct vm *vm);

#endif
