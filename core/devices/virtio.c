/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/virtio.h"

enum {
	OFFERED_WORD = 0x00,
	OFFERED = 0x04,
	ACCEPTED_WORD = 0x08,
	ACCEPTED = 0x0c,
	CONFIG_VECTOR = 0x10,
	N_QUEUES = 0x12,
	STATUS = 0x14,
	GENERATION = 0x15,
	QUEUE = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_VECTOR = 0x1a,
	QUEUE_ENABLE = 0x1c,
	QUEUE_NOTIFY = 0x1e,
	QUEUE_AREAS = 0x20,
};

/* Not inlined: it has two callers. */
__attribute__((noinline)) void virtio_reset(struct virtio *v)
{
	v->accepted = 0;
	v->offered_word = v->accepted_word = v->queue = v->status = v->generation = 0;
	v->disagreed = false;
	v->config_vector = VIRTIO_NO_VECTOR;
	for (uint32_t i = 0; i < v->n_queues; i++)
		v->queues[i] =
		    (struct virtio_queue){.size = v->queue_size, .vector = VIRTIO_NO_VECTOR};
}

bool virtio_is_live(const struct virtio *v)
{
	const uint32_t live = VIRTIO_DRIVER_OK | VIRTIO_FEATURES_OK;

	return (v->status & (live | VIRTIO_NEEDS_RESET)) == live;
}

/* Returns which half of the areas a register has; HALVES: none. */
#define HALVES (2U * VIRTIO_AREAS)
static uint32_t half_of(uint32_t offset)
{
	uint32_t n = (offset - QUEUE_AREAS) / 4;

	return n < HALVES && !(offset & 3) ? n : HALVES;
}

/* A queue that is not there has size 0. */
static uint32_t read_queue(const struct virtio *v, uint32_t offset)
{
	static const struct virtio_queue none = {.vector = VIRTIO_NO_VECTOR};
	const struct virtio_queue *q = v->queue < v->n_queues ? &v->queues[v->queue] : &none;

	switch (offset) {
	case QUEUE_SIZE:
		return q->size;
	case QUEUE_VECTOR:
		return q->vector;
	case QUEUE_ENABLE:
		return q->enabled;
	case QUEUE_NOTIFY:
		return v->queue;
	default:
		return half_of(offset) < HALVES ? q->halves[half_of(offset)] : 0;
	}
}

uint32_t virtio_read(const struct virtio *v, uint32_t offset)
{
	switch (offset) {
	case OFFERED_WORD:
		return v->offered_word;
	case OFFERED:
		return v->offered_word < 2 ? v->offered_halves[v->offered_word] : 0;
	case ACCEPTED_WORD:
		return v->accepted_word;
	case ACCEPTED:
		return v->accepted_word < 2 ? v->accepted_halves[v->accepted_word] : 0;
	case CONFIG_VECTOR:
		return v->config_vector;
	case N_QUEUES:
		return v->n_queues;
	case STATUS:
		return v->status;
	case GENERATION:
		return v->generation;
	case QUEUE:
		return v->queue;
	default:
		return read_queue(v, offset);
	}
}

/* A vector that the device does not have becomes none, as the driver reads back (VIRTIO 1.2,
 * 4.1.5.1.2.1). */
static uint16_t vector_of(const struct virtio *v, uint32_t value)
{
	return value < v->n_vectors ? (uint16_t)value : VIRTIO_NO_VECTOR;
}

/* A queue in use does not change until the device is reset, except for its vector. */
static void write_queue(struct virtio *v, uint32_t offset, uint32_t value)
{
	struct virtio_queue *q;

	if (v->queue >= v->n_queues)
		return;
	q = &v->queues[v->queue];
	if (offset == QUEUE_VECTOR)
		q->vector = vector_of(v, value);
	if (q->enabled)
		return;
	if (offset == QUEUE_SIZE && value && value <= v->queue_size && !(value & (value - 1)))
		q->size = (uint16_t)value;
	else if (offset == QUEUE_ENABLE)
		q->enabled = value == 1;
	else if (half_of(offset) < HALVES)
		q->halves[half_of(offset)] = value;
}

void virtio_stop_queue(struct virtio *v)
{
	struct virtio_queue *q;

	if (v->queue >= v->n_queues)
		return;
	q = &v->queues[v->queue];
	q->enabled = false;
	q->next = q->used = 0;
}

/* FEATURES_OK stays clear if the device cannot do with the features that the driver accepts. */
static void write_status(struct virtio *v, uint8_t value)
{
	if (!value) {
		virtio_reset(v);
		return;
	}
	if (v->accepted & ~v->offered || !(v->accepted & VIRTIO_F_VERSION_1) ||
	    ~v->accepted & v->needed) {
		v->disagreed |= value & VIRTIO_FEATURES_OK;
		value &= (uint8_t)~VIRTIO_FEATURES_OK;
	}
	v->status = value | (v->status & VIRTIO_NEEDS_RESET);
}

void virtio_write(struct virtio *v, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case OFFERED_WORD:
		v->offered_word = value;
		break;
	case ACCEPTED_WORD:
		v->accepted_word = value;
		break;
	case ACCEPTED:
		if (!(v->status & VIRTIO_FEATURES_OK) && v->accepted_word < 2)
			v->accepted_halves[v->accepted_word] = value;
		break;
	case CONFIG_VECTOR:
		v->config_vector = vector_of(v, value);
		break;
	case STATUS:
		write_status(v, (uint8_t)value);
		break;
	case QUEUE:
		v->queue = (uint16_t)value;
		break;
	default:
		write_queue(v, offset, value);
	}
}

uint32_t virtio_mmio_offset(uint32_t offset)
{
	static const uint8_t behind[0x100 / 4] = {
	    [0x10 / 4] = OFFERED + 1,
	    [0x14 / 4] = OFFERED_WORD + 1,
	    [0x20 / 4] = ACCEPTED + 1,
	    [0x24 / 4] = ACCEPTED_WORD + 1,
	    [0x30 / 4] = QUEUE + 1,
	    [0x38 / 4] = QUEUE_SIZE + 1,
	    [0x44 / 4] = QUEUE_ENABLE + 1,
	    [0x70 / 4] = STATUS + 1,
	    [0x80 / 4] = QUEUE_AREAS + 1,
	    [0x84 / 4] = QUEUE_AREAS + 4 + 1,
	    [0x90 / 4] = QUEUE_AREAS + 8 + 1,
	    [0x94 / 4] = QUEUE_AREAS + 12 + 1,
	    [0xa0 / 4] = QUEUE_AREAS + 16 + 1,
	    [0xa4 / 4] = QUEUE_AREAS + 20 + 1,
	    [0xfc / 4] = GENERATION + 1,
	};

	return behind[offset / 4] - 1U;
}
