/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame's way from one port to others of its network.
 *
 * A hart holds no lock while it copies, and waits for nothing. It interrupts the VMs when it uses
 * no queue any more, as it waits for their locks then, whose holders may wait for users of queues.
 */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/io/ports_parts.h"
#include "core/io/virtqueue.h"
#include "core/tree/vm_stay.h"

#define HEADER  PORT_HEADER
#define CHECKED PORT_CHECKED

/* Of the MACs, in halfwords. */
#define DESTINATION (HEADER / 2)
#define SOURCE      (DESTINATION + ETHERNET_MAC / 2)
_Static_assert(HEADER == 12, "one word and two halfwords");

/* Of a frame in the memory of the sender and of a receiver. Drivers have two, or up to four. */
#define SENT_PARTS     6U
#define RECEIVED_PARTS 3U

/* Instructions at most: to offer a frame to a port, beside one for each byte; and for each part. */
#define OFFER 1000U
#define EACH  160U
_Static_assert(OFFER + ETHERNET_MAX + EACH * (SENT_PARTS + RECEIVED_PARTS) + 2 * PORT_TELL <
                   VM_LONGEST_STAY,
               "one frame fits");

/* Few instructions if both addresses are those of words. */
__attribute__((noinline)) void port_copy_start(void *to, const void *from)
{
	const volatile union port_start *in = from;
	union port_start *out = to;

	if (((uintptr_t)to | (uintptr_t)from) % 8) {
		memcpy(to, from, CHECKED);
		return;
	}
#pragma GCC unroll 4
	for (uint32_t i = 0; i < CHECKED / 8; i++)
		out->words[i] = in->words[i];
	out->halves[CHECKED / 2 - 1] = in->halves[CHECKED / 2 - 1];
}
_Static_assert(CHECKED % 8 == 2, "words, and a halfword");

/* Reads or writes (`writes`) the first bytes of a buffer, which has so many. */
static void copy_checked(const struct virtqueue_buffer *b, union port_start *start, bool writes)
{
	uint8_t *at = b->parts[0].at;

	if (b->parts[0].size < CHECKED)
		virtqueue_copy(b, start->bytes, CHECKED, writes);
	else if (writes)
		port_copy_start(at, start->bytes);
	else
		port_copy_start(start->bytes, at);
}

/* Copies all of a frame. A receiver that looks into a buffer which it has given away may see a
 * header there that was not checked, before the checked one is written over it. */
static void copy(const struct virtqueue_buffer *to, struct frame *frame)
{
	const struct virtqueue_part *end = frame->from.parts + frame->from.n_parts;
	struct port_copy c = {.in = frame->from.parts, .out = to->parts};

	while (c.in < end)
		(void)port_copy_piece(&c, UINT64_MAX);
	copy_checked(to, &frame->checked, true);
}

/* Takes a buffer of the receiver for so many bytes. Returns whether it has; *tell: otherwise, the
 * receiver's driver has to be told that its queue is malformed. */
static bool reserve(struct port *to, uint64_t size, struct virtqueue_buffer *buffer, bool *tell)
{
	struct port_queue *q = &to->queues[PORT_RECEIVES];
	bool taken = false;
	int32_t n;

	spin_lock(&to->lock);
	n = port_is_live(q) && !port_down(to)
	        ? virtqueue_peek(&q->ring, true, RECEIVED_PARTS, buffer)
	        : 0;
	if (n < 0) {
		port_give_up(q);
	} else if (n && buffer->size >= size) {
		q->ring.next++;
		q->users++;
		taken = true;
	}
	if (!taken)
		to->counts.lost++;
	*tell = q->malformed;
	spin_unlock(&to->lock);
	return taken;
}

/* Returns whether the receiver has to be told. */
static bool complete(struct port *to, uint32_t head, uint64_t size)
{
	struct port_queue *q = &to->queues[PORT_RECEIVES];
	bool tell;

	spin_lock(&to->lock);
	tell = virtqueue_return(&q->ring, head, (uint32_t)size);
	q->users--;
	to->counts.received++;
	to->counts.received_bytes += size - HEADER;
	spin_unlock(&to->lock);
	return tell;
}

__attribute__((noinline)) void port_note(struct sending *s, const struct port *to)
{
	if (!(s->told >> to->number & 1)) {
		s->told |= 1U << to->number;
		s->n_told++;
	}
}

static void deliver(struct sending *s, struct port *to, struct frame *frame)
{
	struct virtqueue_buffer buffer;
	bool tell;

	s->begun = true;
	if (reserve(to, frame->from.size, &buffer, &tell)) {
		copy(&buffer, frame);
		tell = complete(to, buffer.head, frame->from.size);
	}
	if (tell)
		port_note(s, to);
}

/* Not inlined: most stays have one frame, and do not ask. */
static __attribute__((noinline)) bool has_time(const struct sending *s, const struct frame *frame)
{
	uint64_t most = OFFER + frame->from.size + (uint64_t)EACH * frame->from.n_parts;

	return port_spent(s) + most <= PORT_STAY;
}

/* Whether there is time in this stay to offer a frame to one port more. */
static bool may_go_on(const struct sending *s, const struct frame *frame)
{
	return !s->begun || has_time(s, frame);
}

/* Whether the port's limit lets a frame of so many bytes go, which is counted then. One that was
 * counted in an earlier stay goes on, unless the driver has made it longer since. */
static __attribute__((noinline)) bool admit(struct port *p, uint32_t bytes)
{
	struct port_limit *l = &p->limit;
	uint64_t now = csr_read(CSR_TIME);

	if (p->admitted)
		return bytes <= p->admitted;
	/* With a sign: the last hart that sent may have read a time that is later by a tick. */
	if ((int64_t)(now - l->begun) >= (int64_t)l->period)
		*l = (struct port_limit){.period = l->period, .begun = now};
	/* 0 - 1 is the largest number. */
	if (l->frames > p->config->frames_per_ms - 1 ||
	    l->bytes + bytes - 1 > p->config->bytes_per_ms - 1)
		return false;
	l->frames++;
	l->bytes += bytes;
	p->admitted = bytes;
	return true;
}

/* Returns a mask of the ports to which the frame goes; *good: it may be sent. */
static uint32_t targets(struct sending *s, struct frame *frame, bool *good)
{
	struct port *p = s->p;
	const struct vswitch *switches = &p->network->switches;
	union port_start *start = &frame->checked;
	uint64_t size = frame->from.size;

	*good = size >= CHECKED && size <= HEADER + (p->offload ? PORT_LARGE_MAX : ETHERNET_MAX);
	if (!*good)
		return 0;
	copy_checked(&frame->from, start, false);
	if (p->offload) {
		*good = port_offload_accepts(&start->header, size - HEADER);
		if (!*good)
			return 0;
	} else {
		/* All of the header is 0 but for the number of buffers. */
		start->words[0] = 0;
		start->halves[HEADER / 2 - 2] = 0;
		start->halves[HEADER / 2 - 1] = 1;
	}
	*good = vswitch_accepts(switches, p->number, vswitch_mac(&start->halves[SOURCE]));
	if (*good && p->limit.period)
		*good = admit(p, (uint32_t)size - HEADER);
	if (*good && port_down(p)) {
		s->lost++;
		return 0;
	}
	return *good
	           ? vswitch_targets(switches, p->number, vswitch_mac(&start->halves[DESTINATION]))
	           : 0;
}

/* The frame is done with: returns its buffer. */
static void finish(struct sending *s, const struct frame *frame, bool good)
{
	struct port *p = s->p;
	struct virtqueue *ring = &p->queues[PORT_SENDS].ring;

	ring->next++;
	p->reached = p->admitted = 0;
	if (p->offload)
		p->offload->to = 0;
	s->tell_self |= virtqueue_return(ring, frame->from.head, 0);
	s->refused += !good;
	s->sent += good;
	s->sent_bytes += good ? frame->from.size - HEADER : 0;
}

/* Returns false if the stay is over before the frame has reached all of its ports. */
static bool send_frame(struct sending *s, struct frame *frame)
{
	struct port *p = s->p;
	struct port_offload *o = p->offload;
	bool good = true;
	uint32_t to = o && o->to ? o->to : targets(s, frame, &good);

	if (o)
		o->to = to;
	for (to >>= p->reached; to; to >>= 1, p->reached++) {
		struct port *at = p->network->ports[p->reached];

		if (!(to & 1))
			continue;
		if (o ? !port_offload_deliver(s, at) : !may_go_on(s, frame))
			return false;
		if (!o)
			deliver(s, at, frame);
	}
	s->begun = true;
	finish(s, frame, good);
	return true;
}

/* Returns false if there may be more. */
static bool send_frames(struct sending *s)
{
	struct port *p = s->p;
	struct port_queue *q = &p->queues[PORT_SENDS];
	struct port_offload *o = p->offload;
	struct frame own;
	struct frame *frame = &own;
	int32_t n;

	if (o)
		frame = &o->frame;
	while (port_is_live(q)) {
		if (o && !port_offload_may_go_on(s))
			return !virtqueue_listen(&q->ring);
		n = 1;
		if (!o || !o->to)
			n = virtqueue_peek(&q->ring, false, o ? PORT_LARGE_PARTS : SENT_PARTS,
			                   &frame->from);
		if (n < 0) {
			spin_lock(&p->lock);
			port_give_up(q);
			spin_unlock(&p->lock);
			s->tell_self = true;
			break;
		}
		if (!n && !virtqueue_listen(&q->ring))
			break;
		if (n && ((!o && !may_go_on(s, frame)) || !send_frame(s, frame)))
			return false;
	}
	return true;
}

/* Interrupts the port's VM for one of its queues. Any hart that finds one malformed comes here
 * after that, so that none has to see what another one finds just now. */
static void tell(struct port *p, uint32_t queue)
{
	struct virtio_pci *d = &p->device;
	struct spinlock *lock = &d->function.vm->devices;

	spin_lock(lock);
	if (virtio_pci_runs(d))
		virtio_pci_tell(d, queue, !port_is_malformed(p));
	spin_unlock(lock);
}

static enum { BEGUN, BUSY, NOTHING } begin(struct port *p)
{
	struct port_queue *q = &p->queues[PORT_SENDS];
	int state;

	spin_lock(&p->lock);
	state = !port_is_live(q) ? NOTHING : q->users ? BUSY : BEGUN;
	if (state == BEGUN)
		q->users = 1;
	spin_unlock(&p->lock);
	return state;
}

bool port_send(struct port *p)
{
	struct sending s = {.p = p, .since = csr_read(CSR_INSTRET)};
	int state = begin(p);
	bool done;

	if (state != BEGUN)
		return state == NOTHING;
	done = send_frames(&s);
	spin_lock(&p->lock);
	p->queues[PORT_SENDS].users = 0;
	p->counts.refused += s.refused;
	p->counts.lost += s.lost;
	p->counts.sent += s.sent;
	p->counts.sent_bytes += s.sent_bytes;
	spin_unlock(&p->lock);
	for (uint32_t i = 0; s.told; s.told >>= 1, i++) {
		if (s.told & 1)
			tell(p->network->ports[i], PORT_RECEIVES);
	}
	if (s.tell_self)
		tell(p, PORT_SENDS);
	return done;
}
