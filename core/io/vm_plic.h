/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to the PLIC of a VM without an AIA: a row of core/dispatch/mmio.c. */
#ifndef CORE_IO_VM_PLIC_H
#define CORE_IO_VM_PLIC_H

#include "core/vcpu/vm.h"

uint32_t vm_plic_slots(const struct vm *vm);
uint64_t vm_plic_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_plic_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
