/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs are offered overflow interrupts, and what the boot report says of those that are not.
 *
 * A hart without Ssccfg shows its scountovf to whatever runs on it, and one guest's flags are
 * nobody else's business: there a VM is offered them whose vcpus are alone on their harts. It
 * reads the hart's flags then, which Tally keeps as they should be for it (arch/riscv/hpm_flags.c).
 */
#ifndef CORE_VM_OVERFLOW_H
#define CORE_VM_OVERFLOW_H

#include "core/vm.h"

/* Fills overflow and hart_flags of the VM's policy, the rest of which is made. All vcpus of all VMs
 * have their harts. */
void vm_overflow_policy(struct vm *vm);

/* A line for a VM that is offered less than all. */
void vm_overflow_report(const struct vm *vm);

/* What is wrong with a hart, to be read after "hart 0 has": "no ssaia, no ssccfg", or "" */
const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size);

/* A vcpu with hart_flags begins a life. Its home hart. */
void vm_overflow_begin(struct vcpu *vcpu);

/* Before a vcpu with hart_flags goes on: the hart's flags are made its own. Resident. */
void vm_overflow_show(struct vcpu *vcpu);

#endif
