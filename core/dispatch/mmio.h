/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated devices of VMs. */
#ifndef CORE_DISPATCH_MMIO_H
#define CORE_DISPATCH_MMIO_H

#include "core/vcpu/vcpu.h"

/* Finds the devices that a VM has. At boot, when its bells and functions are made. */
void mmio_init(struct vm *vm);

/* Returns the number of the VM's device at this guest physical address, 1..VM_EMULATED, or 0 if
 * there is none. */
uint32_t mmio_device(const struct vm *vm, uint64_t address);

/* Any number: "nothing" if no device has it. */
const char *mmio_device_name(uint32_t device);

#endif
