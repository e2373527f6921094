/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a VM's devices to rest at the end of a life, before its memory is cleared: interrupts are
 * turned off, each device is reset, and its remaining interrupts are dropped. If a device does not
 * come to rest, the VM does not start again. The same is done before the first life, because
 * whatever booted Tally may have used the devices. Lead hart only; no vcpu of the VM is on a hart.
 */
#ifndef CORE_IO_VM_QUIET_H
#define CORE_IO_VM_QUIET_H

#include "core/vcpu/vm.h"

/* Must be called before the first slice. */
void vm_quiet_begin(struct vm *vm);

/* Makes a step. Returns false when all is done. */
bool vm_quiet_slice(struct vm *vm);

/* Before a life: makes a step of giving the functions the VM's memory. Returns true when that is
 * done. If the IOMMU does not answer, it logs that, and `never_quiet` is set. */
bool vm_attach_slice(struct vm *vm);

/* Whether all devices are at rest. If not, it logs that. Before the first life a device without a
 * known reset may be in any state. */
bool vm_is_quiet(const struct vm *vm);

#endif
