/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs are offered overflow interrupts, and what the boot report says of those that are not.
 *
 * A hart without Ssccfg shows its scountovf to whatever runs on it, and one guest's flags are
 * nobody else's business: there a VM is offered them whose vcpus are alone on their harts, and
 * reads the hart's flags (core/vm/hart_flags.h).
 */
#ifndef CORE_VM_VM_OVERFLOW_H
#define CORE_VM_VM_OVERFLOW_H

#include "core/vm/vm.h"

/* Is the VM offered them? All vcpus of all VMs have their harts. */
bool vm_overflow_offered(const struct vm *vm);

/* Of one that is: do its guests read the hart's own flags (core/vm/hart_flags.h)? */
bool vm_overflow_by_hart_flags(const struct vm *vm);

/* A line for a VM that is offered less than all. */
void vm_overflow_report(const struct vm *vm);

/* What is wrong with a hart, to be read after "hart 0 has": "no ssaia, no ssccfg", or "" */
const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size);

#endif
