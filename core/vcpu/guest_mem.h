/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's own accesses to guest memory. */
#ifndef CORE_VCPU_GUEST_MEM_H
#define CORE_VCPU_GUEST_MEM_H

#include "core/vcpu/vm.h"

/*
 * Returns a host pointer to `size` bytes of the VM's RAM at gpa, or NULL if any of them is outside
 * RAM or they are in two pieces of it. The guest may write there at any time: read the memory once
 * into a local, then check it, then use it.
 */
void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size);

/*
 * Returns the instruction at the resident guest's pc, read with the guest's own address translation
 * and execute permission. Returns 0, which is no instruction, if the read faults because another
 * vcpu has changed the page tables, or if the page tables of a VM with no_adue are outside its RAM.
 * The caller then lets the guest execute the instruction again.
 */
uint32_t guest_fetch(void);

#endif
