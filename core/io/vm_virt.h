/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of a VM with machine = "virt" (core/tree/vm_machine.h): its PLIC with contexts in pairs,
 * and its virtio-mmio slots, which are empty or have a port of a network. All are rows of
 * core/dispatch/mmio.c.
 */
#ifndef CORE_IO_VM_VIRT_H
#define CORE_IO_VM_VIRT_H

#include "core/vcpu/vm.h"

/* Contexts 2n + 1 are those of the vcpus; registers of contexts 2n read 0 and ignore writes. */
uint64_t vm_pairs_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_pairs_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

/* Writes may set this_vcpu()->call.again, as those of ports_write() do. */
uint64_t vm_slot_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_slot_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
