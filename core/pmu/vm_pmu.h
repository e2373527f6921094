/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PMU of a VM can have, and the boot report about it.
 *
 * On a hart without Ssccfg a guest reads the hart's own scountovf (core/vcpu/hart_flags.h), and
 * must not see the OF bits of another guest. If such a hart shows all its bits, a VM has overflow
 * interrupts only if its vcpus are alone on their harts.
 */
#ifndef CORE_PMU_VM_PMU_H
#define CORE_PMU_VM_PMU_H

#include "core/vcpu/vm.h"

/* --- vm_pmu_policy.c: counters and events */

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

/* --- vm_overflow.c: VMs that have overflow interrupts */

/* Whether the VM has overflow interrupts. Only after all vcpus of all VMs have a home. */
bool vm_overflow_offered(const struct vm *vm);

/* Sets `overflow`, `hart_flags` and `shows_flags` of the VM's policy, before the rest of it is set.
 * Only when vm_overflow_offered() may be called. */
void vm_overflow_policy(struct vm *vm);

/* Logs a line about a VM that lacks overflow features. */
void vm_overflow_report(const struct vm *vm);

/* Writes a list of missing features, to follow "hart 0 has ": for example "no ssaia, no ssccfg".
 * Empty if none is missing. Returns buf. */
const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size);

#endif
