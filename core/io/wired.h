/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wired interrupts of devices of VMs: from a source of the host's interrupt controller to a source
 * of the VM's PLIC; the completion goes the other way.
 *
 * A source interrupts the home of the vcpu that has it enabled (of several, the lowest one), also
 * after that vcpu has moved, or another one has enabled it. A level source is held at the host from
 * its claim until the guest completes it, so that it interrupts Tally once for each time that the
 * guest serves it. While the VM is off its sources are off, and later interrupts are dropped.
 *
 * The lock of the VM's devices protects its wires and the host's registers of their sources.
 */
#ifndef CORE_IO_WIRED_H
#define CORE_IO_WIRED_H

#include "arch/riscv/devices/irqchip.h"
#include "core/devices/vaplic.h"

struct vm;

/* Connects a source of the host to a source of the VM. No effect if that source is connected
 * already. Returns false if there are too many, or no controller. At boot only. */
bool wired_add(struct vm *vm, uint32_t source, enum irqchip_mode mode, uint32_t guest);

/* Called at the beginning and the end of a life. No vcpu of the VM is resident. The caller holds
 * vm->devices. */
void wired_begin(struct vm *vm);
void wired_end(struct vm *vm);

/* The VM is off, and its devices are at rest. Drops their remaining interrupts. Returns false if
 * there may be more. Lead hart only; the caller holds vm->devices. */
bool wired_drain(struct vm *vm);

/* The guest has completed a source that it had claimed, one of vm->wired. The caller holds
 * vm->devices. */
void wired_complete(struct vm *vm, uint32_t guest);

/*
 * For a VM with an AIA, whose sources are configured as the guest has them. They send MSIs straight
 * to the guest interrupt file that the guest chose, so Tally neither claims nor completes them.
 * wired_update(): after a write to its APLIC. wired_bits(): the bits that a read of it needs, one
 * for each source. The caller holds vm->devices.
 */
void wired_update(struct vm *vm, const struct vaplic_change *change);
uint32_t wired_bits(struct vm *vm, enum vaplic_needs needs);

/* Delivers the interrupt of a source that the calling hart has claimed. */
void wired_handle_irq(uint32_t source);

#endif
