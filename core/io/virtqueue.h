/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's side of a split virtqueue in guest memory (VIRTIO 1.2, 2.7). The driver may write
 * there at any time, and may be hostile: each word is read once, each address is checked, and each
 * loop is bounded. The caller keeps the queue from other harts by a lock, in a life of the VM.
 */
#ifndef CORE_IO_VIRTQUEUE_H
#define CORE_IO_VIRTQUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/devices/virtio.h"

struct vm;

/* Its areas are translated once. */
struct virtqueue {
	const struct vm *vm;
	const volatile struct virtqueue_descriptor *descriptors;
	struct virtqueue_available *available;
	struct virtqueue_used *used;
	uint16_t size;
	uint16_t next, n_used;      /* indexes in both rings, modulo 2^16 */
	bool indirect, event_index; /* the features that the driver has accepted */
};

/* Sets the queue up. Returns false if an area is misaligned or outside the VM's RAM. */
bool virtqueue_map(const struct vm *vm, const struct virtio_queue *q, uint64_t features,
                   struct virtqueue *mapped);

struct virtqueue_part {
	uint8_t *at; /* for HS; the driver may write there at any time */
	uint64_t size;
};

/* One buffer of the driver. */
#define VIRTQUEUE_PARTS 19U
struct virtqueue_buffer {
	uint32_t head;    /* the index of its first descriptor */
	uint32_t n_parts; /* 1 to VIRTQUEUE_PARTS */
	uint64_t size;    /* bytes of all parts */
	struct virtqueue_part parts[VIRTQUEUE_PARTS];
};

/* Returns how many buffers the driver has made available; negative: the queue is malformed. */
int32_t virtqueue_available(const struct virtqueue *q);

/* Finds the next available buffer, for the device to write (`writes`) or to read, of at most so
 * many parts, and leaves it where it is: adding 1 to q->next takes it. Returns 1, or 0 if there is
 * none; negative: the queue is malformed, or the buffer has more parts or one outside the VM's RAM.
 */
int32_t virtqueue_peek(const struct virtqueue *q, bool writes, uint32_t most,
                       struct virtqueue_buffer *buffer);

/* Reads or writes (`writes`) the first bytes of a buffer, which has so many: one by one, as hostile
 * parts are short. */
void virtqueue_copy(const struct virtqueue_buffer *b, uint8_t *bytes, uint32_t n, bool writes);

/* Returns a buffer that was taken to the driver, with so many bytes written. Returns whether the
 * driver wants an interrupt for it. */
bool virtqueue_return(struct virtqueue *q, uint32_t head, uint32_t size);

/* The same for several buffers that the driver has to find at once: the first function for each of
 * them, and then the second one for all. */
void virtqueue_put(struct virtqueue *q, uint32_t head, uint32_t size);
bool virtqueue_publish(struct virtqueue *q, uint32_t n);

/* Asks the driver to notify the device of the next buffer. Returns whether there is one already. */
bool virtqueue_listen(const struct virtqueue *q);

#endif
