/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs have overflow interrupts, and the boot report about the others.
 *
 * On a hart without Ssccfg a guest reads the hart's own scountovf (core/vcpu/hart_flags.h), and
 * must not see the OF bits of another guest. If such a hart shows all its bits, a VM has overflow
 * interrupts only if its vcpus are alone on their harts.
 */
#ifndef CORE_PMU_VM_OVERFLOW_H
#define CORE_PMU_VM_OVERFLOW_H

#include "core/vcpu/vm.h"

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
