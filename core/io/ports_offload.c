/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a network with offloads: of up to 64 KiB, and copied in several stays. The buffers for
 * all of a frame are taken before the first byte is copied, and the receiver's driver gets them
 * together. Between two stays both drivers may reset their queues.
 */
#include <string.h>

#include "core/io/ports_parts.h"
#include "core/tree/vm_stay.h"

#define NEEDS_CSUM 1U /* flags */
#define TCPV4      1U /* types of segmentation */
#define TCPV6      4U
#define CSUM_BYTES 2U

/* Instructions at most: to find a frame and the ports that it goes to; to take a buffer; for a
 * piece of a copy, beside 8 for 7 bytes; to give all buffers to a driver, or back. */
#define LOOK  1600U
#define TAKE  250U
#define PIECE 200U
#define GIVE  900U
/* So many have room in a stay, whatever was done before. */
#define LEAST LOOK
_Static_assert(LOOK + LEAST + GIVE + 2 * PORT_TELL < VM_LONGEST_STAY, "each stay does something");
_Static_assert((VSWITCH_PORTS - 1) * PORT_LARGE_BUFFERS < 1024, "some buffers are left");

__attribute__((noinline)) bool port_offload_accepts(const struct port_header *h, uint64_t bytes)
{
	if (h->flags & ~NEEDS_CSUM)
		return false;
	if (h->flags && (h->csum_start < ETHERNET_HEADER ||
	                 (uint64_t)h->csum_start + h->csum_offset + CSUM_BYTES > bytes))
		return false;
	if (!h->segments)
		return bytes <= ETHERNET_MAX;
	return (h->segments == TCPV4 || h->segments == TCPV6) && h->flags && h->segment_size &&
	       h->headers >= ETHERNET_HEADER && h->headers <= bytes;
}

/* Returns how many instructions are left in this stay. */
static __attribute__((noinline)) uint64_t left(const struct sending *s)
{
	uint64_t spent = port_spent(s), n = spent < PORT_STAY ? PORT_STAY - spent : 0;

	return s->begun || n > LEAST ? n : LEAST;
}

bool port_offload_may_go_on(const struct sending *s)
{
	return left(s) >= LOOK;
}

/* Begins to use the receiver's queue, in which nothing or o->n buffers are taken. Returns false if
 * it does not take frames, or was reset: then the frame is lost there. */
static bool enter(struct port_offload *o, struct port *to, bool *tell)
{
	struct port_queue *q = &to->queues[PORT_RECEIVES];
	bool good;

	spin_lock(&to->lock);
	good = port_is_live(q) && (o->n ? o->epoch == q->epoch : !port_down(to));
	q->users += good;
	to->counts.lost += !good;
	*tell = q->malformed;
	/* Of a dead queue the epoch may change just now. */
	if (!good) {
		o->n = 0;
	} else if (!o->n) {
		o->room = o->copied = 0;
		o->copy = (struct port_copy){.in = o->frame.from.parts, .out = o->buffers};
		o->epoch = q->epoch;
	}
	spin_unlock(&to->lock);
	return good;
}

/* Takes a buffer, which has to have one part. One without room for a header is malformed (VIRTIO
 * 1.2, 5.1.6.3.1), and so is one without room for that of the frame. */
static bool take(struct port_offload *o, struct port *to)
{
	struct port_queue *q = &to->queues[PORT_RECEIVES];
	struct virtqueue_buffer b;
	int32_t n = 0;

	spin_lock(&to->lock);
	if (port_is_live(q))
		n = virtqueue_peek(&q->ring, true, 1, &b);
	if (n < 0 || (n && b.size < PORT_CHECKED)) {
		port_give_up(q);
		n = 0;
	}
	if (n) {
		if (!o->n)
			o->first = q->ring.next;
		q->ring.next++;
	}
	spin_unlock(&to->lock);
	if (!n)
		return false;
	o->buffers[o->n] = b.parts[0];
	o->heads[o->n++] = b.head;
	o->room += b.size;
	return true;
}

/* Takes buffers as long as there is time. Returns false if there are too few. */
static bool take_all(struct sending *s, struct port_offload *o, struct port *to)
{
	while (o->room < o->frame.from.size) {
		if (left(s) < TAKE + GIVE)
			break;
		if (o->n == PORT_LARGE_BUFFERS || !take(o, to))
			return false;
		s->begun = true;
	}
	return true;
}

/* Copies from one part into one buffer. Returns false if there is no time. */
static bool copy_piece(struct sending *s, struct port_offload *o)
{
	uint64_t time = left(s);
	/* A multiple of 8, so that addresses that agree do so at the next piece. */
	uint64_t most = time > PIECE ? (time - PIECE) * 7 / 8 & ~UINT64_C(7) : 0;

	if (!most)
		return false;
	o->copied += port_copy_piece(&o->copy, most);
	s->begun = true;
	return true;
}

/* Gives back what was taken: as if it had not been, or, if another port has taken something since,
 * as buffers in which nothing is written. Returns whether the driver wants to be told. The caller
 * has the lock. */
static bool give_back(struct port_offload *o, struct port_queue *q)
{
	uint32_t n = o->n;

	o->n = 0;
	if (!n || (uint16_t)(o->first + n) == q->ring.next) {
		q->ring.next -= (uint16_t)n;
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		virtqueue_put(&q->ring, o->heads[i], 0);
	return virtqueue_publish(&q->ring, n);
}

/* The driver finds all buffers of the frame at once. */
static bool give(struct port_offload *o, struct port *to)
{
	struct virtqueue *ring = &to->queues[PORT_RECEIVES].ring;
	uint64_t rest = o->frame.from.size;

	for (uint32_t i = 0; i < o->n; i++) {
		uint64_t size = rest < o->buffers[i].size ? rest : o->buffers[i].size;

		virtqueue_put(ring, o->heads[i], (uint32_t)size);
		rest -= size;
	}
	to->counts.received++;
	to->counts.received_bytes += o->frame.from.size - PORT_HEADER;
	return virtqueue_publish(ring, o->n);
}

/* Writes what was checked over what was copied; see copy() in ports_send.c. */
static void put_checked(struct port_offload *o)
{
	uint16_t n = (uint16_t)o->n;

	port_copy_start(o->buffers[0].at, o->frame.checked.bytes);
	memcpy(o->buffers[0].at + offsetof(struct port_header, n_buffers), &n, sizeof(n));
}

__attribute__((noinline)) bool port_offload_deliver(struct sending *s, struct port *to)
{
	struct port_offload *o = s->p->offload;
	struct port_queue *q = &to->queues[PORT_RECEIVES];
	bool lost, done, tell;

	if (!enter(o, to, &tell)) {
		if (tell)
			port_note(s, to);
		s->begun = true;
		return true;
	}
	lost = !take_all(s, o, to);
	while (!lost && o->room >= o->frame.from.size && o->copied < o->frame.from.size) {
		if (!copy_piece(s, o))
			break;
	}
	done = !lost && o->copied == o->frame.from.size && left(s) >= GIVE;
	if (done)
		put_checked(o);
	spin_lock(&to->lock);
	q->users--;
	tell = done ? give(o, to) : lost && give_back(o, q);
	if (done || lost) {
		tell |= q->owed | q->malformed;
		q->owed = false;
		to->counts.lost += lost;
		o->n = 0;
	}
	spin_unlock(&to->lock);
	if (tell)
		port_note(s, to);
	s->begun = true;
	return done || lost;
}

/* The receiver is told when it gets the next frame: whoever stops the queue has the lock of a VM's
 * devices, and may not take another one's. */
void port_offload_stop(struct port *p)
{
	struct port_offload *o = p->offload;
	struct port *to;
	struct port_queue *q;

	if (!o->to)
		return;
	o->to = 0;
	to = p->network->ports[p->reached];
	q = &to->queues[PORT_RECEIVES];
	spin_lock(&to->lock);
	if (port_is_live(q) && o->epoch == q->epoch)
		q->owed |= give_back(o, q);
	o->n = 0;
	spin_unlock(&to->lock);
}
