/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's side of a split virtqueue in guest memory (VIRTIO 1.2, 2.7). The driver may write
 * there at any time, and may be hostile: each word is read once, each address is checked, and each
 * loop is bounded. The caller holds the lock of the VM's devices, in a life of the VM.
 */
#ifndef CORE_IO_VIRTQUEUE_H
#define CORE_IO_VIRTQUEUE_H

#include "core/devices/virtio.h"

struct vm;

/* Returns how many buffers the driver has made available; negative: the queue is malformed, or the
 * driver has not set it up. */
int32_t virtqueue_available(const struct vm *vm, const struct virtio_queue *q);

/* Writes `size` bytes into the next available buffer, which there is, and returns it to the driver.
 * Returns false if the queue is malformed, or the buffer is too small. */
bool virtqueue_use(const struct vm *vm, struct virtio_queue *q, const void *data, uint32_t size);

#endif
