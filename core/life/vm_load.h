/* SPDX-License-Identifier: Apache-2.0 */
/* Fills and clears a VM's memory, one slice per call. No vcpu of the VM is on a hart. */
#ifndef CORE_LIFE_VM_LOAD_H
#define CORE_LIFE_VM_LOAD_H

#include "core/vcpu/vm.h"

/* Must be called before the first slice of loading or clearing. */
void vm_load_begin(struct vm *vm);

/* Copies a slice of kernel, initrd and device tree. Returns false when all is copied. */
bool vm_load_slice(struct vm *vm);

/* Clears memory of a VM in the fastest way of this hart. */
void vm_clear_range(uint64_t from, uint64_t size);

/* Clears a slice. Returns false when all memory is clear. */
bool vm_clear_slice(struct vm *vm);

#endif
