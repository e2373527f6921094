/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says when a VM ends. */
#ifndef CORE_VM_VM_TELL_H
#define CORE_VM_VM_TELL_H

#include "core/vm/vm.h"

/* Lines of vm_tell_registers(). */
#define VM_TELL_LINES 10U

/* Notes the registers of a vcpu that is off its hart, for vm_tell_registers() and for later. */
void vm_crash_note(struct vm_crash *crash, const struct vcpu *vcpu);

/* The line that vm_tell_exits() logs. */
void vm_exits_text(const struct vcpu *vcpu, char *text, size_t size);

/* Each logs one line, or two: enough for a stay in HS. */
void vm_tell_exits(const struct vcpu *vcpu);
void vm_tell_end(const struct vm *vm);
void vm_tell_registers(const struct vm *vm, uint32_t n); /* n < VM_TELL_LINES */

#endif
