/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's own accesses to guest memory. */
#ifndef CORE_VM_GUEST_MEM_H
#define CORE_VM_GUEST_MEM_H

#include "core/vm/vm.h"

/*
 * size bytes of the VM's RAM at gpa as a host pointer; NULL where any of them is outside it.
 * The guest may write there at any time: read once into a local, then check, then use.
 */
void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size);

/*
 * The instruction at the resident guest's pc, through its own translation and execute permission.
 * 0, which none is: that faults (another vcpu changed the tables); the guest had better try again
 * itself.
 */
uint32_t guest_fetch(void);

#endif
