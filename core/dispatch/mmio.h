/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores outside a guest's RAM. They access a device or cause an access fault. */
#ifndef CORE_DISPATCH_MMIO_H
#define CORE_DISPATCH_MMIO_H

#include "core/vcpu/vcpu.h"

/* Handles a guest-page fault of the resident vcpu, whose address is in htval and stval. If there is
 * no device at the address, the guest gets an access fault, as it would on a real machine. */
void mmio_access(struct vcpu *vcpu, bool store);

/* Returns the device of the VM at this guest physical address: 0: none, then the PLIC, the UART,
 * the APLIC, the PCI bus, a bell. */
#define MMIO_DEVICES 6U
uint32_t mmio_device(const struct vm *vm, uint64_t address);

#endif
