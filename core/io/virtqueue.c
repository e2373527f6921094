/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/virtqueue.h"

#include <stdatomic.h>
#include <string.h>

#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vm.h"

#define DESCRIPTOR_MORE  1U /* flags */
#define DESCRIPTOR_WRITE 2U

/* Of one buffer. The data are never more than as many bytes, so no driver needs more. */
#define MAX_DESCRIPTORS 8U

struct descriptor {
	uint64_t address;
	uint32_t size;
	uint16_t flags, next;
};

struct available {
	uint16_t flags;
	atomic_ushort index;
	uint16_t ring[];
};

struct used {
	uint16_t flags;
	atomic_ushort index;
	struct {
		uint32_t head, size;
	} ring[];
};

/* Returns the address for HS of an area of the queue, or NULL. */
static void *area(const struct vm *vm, const struct virtio_queue *q, uint32_t which, uint64_t size,
                  uint64_t align)
{
	uint64_t at = q->areas[which];

	return q->enabled && !(at & (align - 1)) ? guest_mem(vm, (gpa_t){at}, size) : NULL;
}

static const struct available *available(const struct vm *vm, const struct virtio_queue *q)
{
	return area(vm, q, VIRTIO_AVAILABLE, sizeof(struct available) + q->size * 2UL, 2);
}

int32_t virtqueue_available(const struct vm *vm, const struct virtio_queue *q)
{
	const struct available *a = available(vm, q);
	uint16_t n;

	if (!a)
		return -1;
	n = (uint16_t)(atomic_load_explicit(&a->index, memory_order_acquire) - q->next);
	return n <= q->size ? n : -1;
}

/* Writes into the descriptors of a buffer, from the one with index `head` on. */
static bool fill(const struct vm *vm, const struct virtio_queue *q, uint32_t head, const char *data,
                 uint32_t size)
{
	const volatile struct descriptor *all =
	    area(vm, q, VIRTIO_DESCRIPTORS, q->size * sizeof(*all), 16);

	for (uint32_t n = 0; size && n < MAX_DESCRIPTORS && all && head < q->size; n++) {
		struct descriptor d = all[head];
		uint32_t part = d.size < size ? d.size : size;
		char *to = guest_mem(vm, (gpa_t){d.address}, part);

		if (!to || (d.flags & ~DESCRIPTOR_MORE) != DESCRIPTOR_WRITE)
			return false;
		memcpy(to, data, part);
		data += part;
		size -= part;
		head = d.flags & DESCRIPTOR_MORE ? d.next : q->size;
	}
	return !size;
}

bool virtqueue_use(const struct vm *vm, struct virtio_queue *q, const void *data, uint32_t size)
{
	const struct available *a = available(vm, q);
	struct used *u = area(vm, q, VIRTIO_USED, sizeof(*u) + q->size * sizeof(u->ring[0]), 4);
	uint32_t entry = q->next % q->size, head;

	if (!a || !u)
		return false;
	head = *(const volatile uint16_t *)&a->ring[entry];
	if (head >= q->size || !fill(vm, q, head, data, size))
		return false;
	u->ring[entry].head = head;
	u->ring[entry].size = size;
	atomic_store_explicit(&u->index, ++q->next, memory_order_release);
	return true;
}
