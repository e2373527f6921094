/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings devices of the host to rest: they raise no interrupt and access no memory, and a driver
 * finds them as after reset. `base` is the address of their registers. Each call makes a step; the
 * device is at rest when a call returns true. Any hart may call these, after a fence if the
 * registers came into the map of HS late.
 */
#ifndef ARCH_RISCV_DEVICES_DEVICE_RESET_H
#define ARCH_RISCV_DEVICES_DEVICE_RESET_H

#include "core/lib/types.h"

/* Does not change the time. */
bool device_reset_goldfish_rtc(uint64_t base);

/* Register n is at base + (n << shift). */
bool device_reset_ns16550(uint64_t base, uint32_t shift);

/* The reset is done when the status reads 0 (Virtio 1.2, 4.2.2.1). */
bool device_reset_virtio_mmio(uint64_t base);

#endif
