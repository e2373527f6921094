/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs have overflow interrupts, and what the boot report says about the others.
 *
 * On a hart without Ssccfg a guest reads the hart's own scountovf (core/vcpu/hart_flags.h), and
 * must not see the OF bits of another one. If such a hart shows all its bits, only those VMs have
 * overflow interrupts whose vcpus are alone on their harts.
 */
#ifndef CORE_PMU_VM_OVERFLOW_H
#define CORE_PMU_VM_OVERFLOW_H

#include "core/vcpu/vm.h"

/* Whether the VM has overflow interrupts. Only after all vcpus of all VMs have a home. */
bool vm_overflow_offered(const struct vm *vm);

/* Sets `overflow`, `hart_flags` and `shows_flags` of the VM's policy, which is not set yet. When
 * vm_overflow_offered() may be called. */
void vm_overflow_policy(struct vm *vm);

/* Logs a line about a VM that does not have all overflow features. */
void vm_overflow_report(const struct vm *vm);

/* Writes what a hart lacks, as in "hart 0 has no ssaia, no ssccfg", without "hart 0 has". Empty if
 * it lacks nothing. Returns buf. */
const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size);

#endif
