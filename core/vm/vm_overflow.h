/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs have overflow interrupts, and what the boot report says about the others.
 *
 * A hart without Ssccfg shows its scountovf to whatever runs on it, and a guest must not see the OF
 * bits of another one. On such harts only those VMs have overflow interrupts whose vcpus are alone
 * on their harts. They read the hart's own OF bits (core/vm/hart_flags.h).
 */
#ifndef CORE_VM_VM_OVERFLOW_H
#define CORE_VM_VM_OVERFLOW_H

#include "core/vm/vm.h"

/* Whether the VM has overflow interrupts. Only after all vcpus of all VMs have a home. */
bool vm_overflow_offered(const struct vm *vm);

/* Whether the guest reads the hart's own OF bits (core/vm/hart_flags.h). Only for a VM that has
 * overflow interrupts. */
bool vm_overflow_by_hart_flags(const struct vm *vm);

/* Whether each hart of each vcpu shows VS only the OF bits of open counters (hpm.flags_hidden). */
bool vm_overflow_hidden(const struct vm *vm);

/* Logs a line about a VM that does not have all overflow features. */
void vm_overflow_report(const struct vm *vm);

/* Writes what a hart lacks, as in "hart 0 has no ssaia, no ssccfg", without "hart 0 has". Empty if
 * it lacks nothing. Returns buf. */
const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size);

#endif
