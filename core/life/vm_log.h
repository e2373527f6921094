/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that are logged when a VM ends. */
#ifndef CORE_LIFE_VM_LOG_H
#define CORE_LIFE_VM_LOG_H

#include "core/vcpu/vm.h"

/* Number of lines of vm_log_registers(). */
#define VM_LOG_LINES 10U

/* Saves the registers of a vcpu that was put, for vm_log_registers() and for the operator. */
void vm_crash_note(struct vm_crash *crash, const struct vcpu *vcpu);

/* The names of crash->x[]; x[0] is pc. */
extern const char *const vm_register_names[32];

#define VM_FAILURE_BYTES 96U
/* Writes the reason of the failure, in the words of the log. */
void vm_failure_text(const char *failure, uint64_t value, const char *unit, char *text,
                     size_t size);

/* Writes the line that vm_log_exits() logs. */
void vm_exits_text(const struct vcpu *vcpu, char *text, size_t size);

/* Each call logs at most two lines, because more would take too long for one exit. */
void vm_log_exits(const struct vcpu *vcpu);
void vm_log_end(const struct vm *vm);
void vm_log_registers(const struct vm *vm, uint32_t n); /* n < VM_LOG_LINES */
void vm_log_windows(const struct vcpu *vcpu);
void vm_log_budget(const struct vcpu *vcpu); /* for a vcpu with a budget */

#endif
