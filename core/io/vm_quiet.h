/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a life for a VM's devices, before its memory is cleared: interrupts off, each device
 * reset, what is left of its interrupts taken away. A VM one of whose devices is not at rest then
 * does not start again. The same before the first life, because whatever booted Tally may have used
 * the devices. Lead hart only; no vcpu of the VM is on a hart.
 */
#ifndef CORE_IO_VM_QUIET_H
#define CORE_IO_VM_QUIET_H

#include "core/vcpu/vm.h"

/* Must be called before the first slice. */
void vm_quiet_begin(struct vm *vm);

/* Makes a step. Returns false when nothing is left to do. */
bool vm_quiet_slice(struct vm *vm);

/* Whether all devices are at rest. If not, it says so. Before the first life one without a known
 * reset may be as it was. */
bool vm_is_quiet(const struct vm *vm);

#endif
