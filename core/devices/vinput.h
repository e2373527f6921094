/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the configuration of a virtio input device with one key, the power key (VIRTIO 1.2,
 * 5.8.4). The caller of each function holds the lock of the VM's devices; any hart may call.
 */
#ifndef CORE_DEVICES_VINPUT_H
#define CORE_DEVICES_VINPUT_H

#include <stdint.h>

#define VINPUT_EV_SYN    0U /* as in Linux's input-event-codes.h */
#define VINPUT_EV_KEY    1U
#define VINPUT_KEY_POWER 116U

struct vinput {
	uint8_t select, subsel; /* what the rest of the configuration tells; reset state: 0 */
};

/* Accesses of the driver: `width` bytes, 1 to 8, at any offset. */
uint64_t vinput_read(const struct vinput *in, uint32_t offset, uint32_t width);
void vinput_write(struct vinput *in, uint32_t offset, uint8_t value);

#endif
