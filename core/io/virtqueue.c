/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/virtqueue.h"

#include <stdatomic.h>
#include <string.h>

#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vm.h"

#define DESCRIPTOR_MORE     1U /* flags */
#define DESCRIPTOR_WRITE    2U
#define DESCRIPTOR_INDIRECT 4U
#define NO_INTERRUPT        1U /* flags of the available ring */

struct virtqueue_descriptor {
	uint64_t address;
	uint32_t size;
	uint16_t flags, next;
};

struct virtqueue_available {
	uint16_t flags;
	atomic_ushort index;
	uint16_t ring[];
};

struct virtqueue_used {
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

/* With an event index there are two more bytes behind each ring. */
bool virtqueue_map(const struct vm *vm, const struct virtio_queue *q, uint64_t features,
                   struct virtqueue *m)
{
	const uint64_t event = features & VIRTIO_F_EVENT_IDX ? 2 : 0;

	*m = (struct virtqueue){
	    .vm = vm,
	    .size = q->size,
	    .next = q->next,
	    .n_used = q->used,
	    .indirect = features & VIRTIO_F_INDIRECT_DESC,
	    .event_index = event,
	};
	m->descriptors = area(vm, q, VIRTIO_DESCRIPTORS, q->size * sizeof(m->descriptors[0]), 16);
	m->available =
	    area(vm, q, VIRTIO_AVAILABLE, sizeof(*m->available) + q->size * 2UL + event, 2);
	m->used = area(vm, q, VIRTIO_USED,
	               sizeof(*m->used) + q->size * sizeof(m->used->ring[0]) + event, 4);
	return m->descriptors && m->available && m->used;
}

/* A table of descriptors: the queue's, or an indirect one, which a last descriptor leads to. */
struct table {
	const volatile struct virtqueue_descriptor *all;
	uint32_t n;
	bool may_lead; /* to an indirect one */
};

static __attribute__((noinline)) bool enter_table(const struct vm *vm, struct table *t,
                                                  const struct virtqueue_descriptor *d)
{
	if (!t->may_lead || d->size % sizeof(*d) || d->flags & DESCRIPTOR_MORE)
		return false;
	t->all = guest_mem(vm, (gpa_t){d->address}, d->size);
	t->n = d->size / sizeof(*d);
	t->may_lead = false;
	return t->all;
}

/* Of an indirect table, which may be anywhere (VIRTIO 1.2, 2.7.5.3). */
static __attribute__((noinline)) void read_misaligned(const volatile void *at,
                                                      struct virtqueue_descriptor *d)
{
	for (uint32_t i = 0; i < sizeof(*d); i++)
		((uint8_t *)d)[i] = ((const volatile uint8_t *)at)[i];
}

/* Ends: each step adds a part, of which a buffer has few, except for one that enters an indirect
 * table. */
static bool walk(const struct virtqueue *q, bool writes, uint32_t most, struct virtqueue_buffer *b)
{
	struct table t = {q->descriptors, q->size, q->indirect};
	uint32_t at = b->head, n = 0;

	while (at < t.n && n < most) {
		struct virtqueue_descriptor d;

		if ((uintptr_t)t.all % 8)
			read_misaligned((const volatile char *)t.all + at * sizeof(d), &d);
		else
			d = t.all[at];
		if (d.flags & DESCRIPTOR_INDIRECT) {
			if (!enter_table(q->vm, &t, &d))
				return false;
			at = 0;
			continue;
		}
		b->parts[n].at = guest_mem(q->vm, (gpa_t){d.address}, d.size);
		b->parts[n].size = d.size;
		b->size += d.size;
		if (!d.size || !b->parts[n++].at || !(d.flags & DESCRIPTOR_WRITE) == writes)
			return false;
		if (!(d.flags & DESCRIPTOR_MORE)) {
			b->n_parts = n;
			return true;
		}
		at = d.next;
	}
	return false;
}

static inline uint16_t read_once(const uint16_t *word)
{
	return *(const volatile uint16_t *)word;
}

/* Returns how many buffers the driver has made available; negative: the queue is malformed. */
static inline int32_t available(const struct virtqueue *q)
{
	uint16_t index = atomic_load_explicit(&q->available->index, memory_order_acquire);
	uint16_t n = (uint16_t)(index - q->next);

	return n <= q->size ? n : -1;
}

int32_t virtqueue_available(const struct virtqueue *q)
{
	return available(q);
}

int32_t virtqueue_peek(const struct virtqueue *q, bool writes, uint32_t most,
                       struct virtqueue_buffer *buffer)
{
	int32_t n = available(q);

	if (n <= 0)
		return n;
	buffer->head = read_once(&q->available->ring[q->next & (q->size - 1)]);
	buffer->size = 0;
	return walk(q, writes, most, buffer) ? 1 : -1;
}

/* Not inlined: the buffers of frames are rarely such. */
__attribute__((noinline)) void virtqueue_copy(const struct virtqueue_buffer *b, uint8_t *bytes,
                                              uint32_t n, bool writes)
{
	uint32_t part = 0, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		volatile uint8_t *byte = &b->parts[part].at[at++];

		if (writes)
			*byte = bytes[i];
		else
			bytes[i] = *byte;
		if (at == b->parts[part].size)
			part++, at = 0;
	}
}

void virtqueue_put(struct virtqueue *q, uint32_t head, uint32_t size)
{
	uint32_t entry = q->n_used++ & (q->size - 1U);
	struct virtqueue_used *used = q->used;

	used->ring[entry].head = head;
	used->ring[entry].size = size;
}

/* Not inlined: neither is what each frame needs. */
__attribute__((noinline)) bool virtqueue_publish(struct virtqueue *q, uint32_t n)
{
	atomic_store_explicit(&q->used->index, q->n_used, memory_order_release);
	/* The driver writes its wish, then looks at the index. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!q->event_index)
		return !(read_once(&q->available->flags) & NO_INTERRUPT);
	/* The wish is for one of these buffers. */
	return (uint16_t)(q->n_used - 1 - read_once(&q->available->ring[q->size])) < n;
}

__attribute__((noinline)) bool virtqueue_return(struct virtqueue *q, uint32_t head, uint32_t size)
{
	virtqueue_put(q, head, size);
	return virtqueue_publish(q, 1);
}

bool virtqueue_listen(const struct virtqueue *q)
{
	if (q->event_index) {
		*(volatile uint16_t *)&q->used->ring[q->size] = q->next;
		atomic_thread_fence(memory_order_seq_cst);
	}
	return atomic_load_explicit(&q->available->index, memory_order_relaxed) != q->next;
}
