/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power key of a VM with shutdown = "key": a virtio input device (VIRTIO 1.2, 5.8) that is a
 * PCI function with INTx. Its BAR 0 is one page with all registers. Queue 0 takes events to the
 * guest. Nothing has an effect that the guest sends by queue 1, as the key has no lamp.
 */
#ifndef CORE_IO_POWER_KEY_H
#define CORE_IO_POWER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* Makes the key of a VM with shutdown = "key". No effect for other VMs. alloc() returns zeroed
 * memory. At boot only. */
void power_key_make(struct vm *vm, void *(*alloc)(size_t size));

/* A life begins (`alive`), or is over. No effect for VMs without a key. */
void power_key_reset(struct vm *vm, bool alive);

/* Whether the guest has a driver for the key. Any hart may call it; the VM has a key. */
bool power_key_is_live(struct vm *vm);

/* Presses the key and releases it. Returns false if the guest has no driver for it now, or not
 * enough buffers. Lead hart only, in a life. */
bool power_key_press(struct vm *vm);

/* Accesses to its page: a row of core/dispatch/mmio.c. */
uint64_t power_key_read(struct vm *vm, uint64_t offset, uint32_t width);
void power_key_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
