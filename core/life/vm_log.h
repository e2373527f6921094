/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that are logged when a VM ends. */
#ifndef CORE_LIFE_VM_LOG_H
#define CORE_LIFE_VM_LOG_H

#include "core/vcpu/vm.h"

/* Saves the registers of a vcpu that was put, for the log and for the operator. */
void vm_crash_note(struct vm_crash *crash, const struct vcpu *vcpu);

/* The names of crash->x[]; x[0] is pc. */
extern const char *const vm_register_names[32];

#define VM_FAILURE_BYTES 96U
/* Writes the reason of the failure, in the words of the log. */
void vm_failure_text(const struct vm_failure *f, char *text, size_t size);

/* Ends the VM's own last line, and logs the lines about the end of a life: the exits of each vcpu,
 * the devices' last faults, late windows, the reason, registers after a failure, and the cost of
 * budgets. A piece of work makes a line or prints it, because both together would take too long for
 * one stay. While the serial line has no room for a line, a piece does nothing, for at most 60 s in
 * all. Returns false after the last piece. Called by the lead hart, when all vcpus are off. */
void vm_log_begin(struct vm *vm);
bool vm_log_piece(struct vm *vm);

#endif
