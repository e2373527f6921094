/* SPDX-License-Identifier: Apache-2.0 */
/* Fills and clears a VM's memory, a slice a call. No vcpu of it is on any hart. */
#ifndef CORE_VM_VM_LOAD_H
#define CORE_VM_VM_LOAD_H

#include "core/vm/vm.h"

/* Before the first slice of either. */
void vm_load_begin(struct vm *vm);

/* Copies a slice of kernel, initrd and device tree. false: all of it is there. */
bool vm_load_slice(struct vm *vm);

/* Clears a slice. false: all of it is clear. */
bool vm_clear_slice(struct vm *vm);

#endif
