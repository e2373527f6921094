/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about ports of networks share. */
#ifndef CORE_IO_PORTS_PARTS_H
#define CORE_IO_PORTS_PARTS_H

#include <stdatomic.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/spinlock.h"
#include "core/devices/vswitch.h"
#include "core/io/ports.h"
#include "core/io/virtio_pci.h"
#include "core/io/virtqueue.h"
#include "core/vcpu/vm.h"

enum { PORT_RECEIVES, PORT_SENDS, PORT_QUEUES };

/* Constant after boot. */
struct network {
	const char *name;
	struct vswitch switches;
	bool offload; /* frames of up to PORT_LARGE_MAX bytes, with the senders' headers */
	struct port *ports[VSWITCH_PORTS];
};

/*
 * A queue while the driver has it set up. Harts that use it (`users`) hold no lock meanwhile, and
 * wait for nothing before they are done; who stops it waits for them.
 */
struct port_queue {
	struct virtqueue ring;
	bool started; /* the driver has it set up; written with the lock of the VM's devices */
	/* That, and it was not malformed. Written with the port's lock; the hart that sends looks
	 * at it without. */
	atomic_bool live;
	/* Found by a hart that could not tell the driver yet. Written as `live` is; a hart that
	 * tells the driver looks at it without the lock. */
	bool malformed;
	uint32_t users;
	/* Only where the network has offloads. Another one after each reset, written while nobody
	 * uses the queue; and whether the driver wants to be told of buffers that it got back. */
	uint64_t epoch;
	bool owed;
};

/*
 * What a port may send, if the VM tree limits that. A period begins with a frame that is sent when
 * the last one is over. Only for the user of the queue that sends.
 */
struct port_limit {
	uint64_t period;        /* ticks; 0: there is no limit. Constant after boot */
	uint64_t begun;         /* when this period began, in the machine's time */
	uint32_t frames, bytes; /* sent in it */
};

/* The configuration that a driver reads (VIRTIO 1.2, 5.1.4). */
struct port_config {
	uint16_t mac[ETHERNET_MAC / 2];
	uint16_t status, max_queue_pairs, mtu;
};
#define LINK_UP 1U /* the status, or 0 */

struct port {
	struct virtio_pci device; /* comes first */
	/* Constant after boot. */
	const struct vm_port *config;
	struct network *network;
	uint32_t number; /* in the network */
	/* Its status changes when the operator pulls the cable, or puts it back: it is written with
	 * the lock of the VM's devices, and read by any hart. */
	struct port_config shown;
	/* Protects the members below; an inner lock of any VM's devices. The one user of the queue
	 * that sends owns its ring, `reached`, `admitted` and `limit`. */
	struct spinlock lock;
	struct port_queue queues[PORT_QUEUES];
	/* Of the frame at the queue's beginning: it was offered to ports below this; and its bytes
	 * when they were counted for the limit, or 0. Lives do not change the limit. */
	uint32_t reached, admitted;
	struct port_limit limit;
	struct port_counts counts;
	/* NULL: the network has no offloads. The pointer is constant after boot. */
	struct port_offload *offload;
	/* The log has said that the driver does not take them. With the lock of the VM's devices.
	 */
	bool told_features;
};

/* What is before a frame (VIRTIO 1.2, 5.1.6: struct virtio_net_hdr). */
struct port_header {
	uint8_t flags, segments;
	uint16_t headers, segment_size, csum_start, csum_offset, n_buffers;
};

#define PORT_HEADER  12U
#define PORT_CHECKED (PORT_HEADER + ETHERNET_HEADER)

/* The bytes from the beginning of the header to the end of the Ethernet header. */
union port_start {
	struct port_header header;
	uint8_t bytes[PORT_CHECKED];
	uint16_t halves[PORT_CHECKED / 2];
	uint64_t words[PORT_CHECKED / 8];
};
_Static_assert(sizeof(struct port_header) == PORT_HEADER, "as in memory");

/* Copies such bytes. Each one is read once. */
void port_copy_start(void *to, const void *from);

/* A frame in the sender's buffers, with the header before it. The first bytes are read once, and
 * are what receivers get. */
struct frame {
	struct virtqueue_buffer from;
	union port_start checked;
};

/* A copy of a frame: the parts that it has come to, and bytes of them that were copied. */
struct port_copy {
	const struct virtqueue_part *in, *out;
	uint64_t read, written;
};

/* Copies at most so many bytes, from one part into one. Returns how many. Inlined, because each
 * frame is copied by it. */
static inline __attribute__((always_inline)) uint64_t port_copy_piece(struct port_copy *c,
                                                                      uint64_t most)
{
	uint64_t n = c->in->size - c->read, room = c->out->size - c->written;

	if (n > room)
		n = room;
	if (n > most)
		n = most;
	memcpy(c->out->at + c->written, c->in->at + c->read, n);
	c->read += n;
	c->written += n;
	if (c->read == c->in->size)
		c->in++, c->read = 0;
	if (c->written == c->out->size)
		c->out++, c->written = 0;
	return n;
}

/* What is done in a stay. */
struct sending {
	struct port *p;
	uint64_t since;  /* instret */
	bool begun;      /* a frame was offered to a port, or refused */
	uint32_t told;   /* mask of ports that have to be told */
	uint32_t n_told; /* number of them */
	bool tell_self;
	/* Of frames that are done with; in the port's counts at the end of the stay. */
	uint64_t refused, lost, sent, sent_bytes;
};

/* Instructions at most: of a stay in which a further port gets a frame, and to tell a port. */
#define PORT_STAY 4000U
#define PORT_TELL 400U

/* Returns how many instructions of this stay are spent, with those to tell ports. */
static inline uint64_t port_spent(const struct sending *s)
{
	return csr_read(CSR_INSTRET) - s->since + (uint64_t)PORT_TELL * (s->n_told + 1);
}

static inline bool port_is_live(const struct port_queue *q)
{
	return atomic_load_explicit(&q->live, memory_order_relaxed);
}

/* The caller of both has the lock. */
static inline void port_set_malformed(struct port_queue *q, bool malformed)
{
	__atomic_store_n(&q->malformed, malformed, __ATOMIC_RELAXED);
}

static inline void port_give_up(struct port_queue *q)
{
	atomic_store_explicit(&q->live, false, memory_order_relaxed);
	port_set_malformed(q, true);
}

static inline bool port_is_malformed(const struct port *p)
{
	return __atomic_load_n(&p->queues[PORT_RECEIVES].malformed, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&p->queues[PORT_SENDS].malformed, __ATOMIC_RELAXED);
}

/* The port's driver has to be told at the end of the stay. */
void port_note(struct sending *s, const struct port *to);

static inline bool port_down(const struct port *p)
{
	return !__atomic_load_n(&p->shown.status, __ATOMIC_RELAXED);
}

/* Sends frames for one stay. Returns false if there may be more. The caller holds no lock. */
bool port_send(struct port *p);

/* --- networks with offloads: ports_offload.c ----------------------------------------------- */

/* Bytes of a frame (VIRTIO 1.2, 5.1.6.3.1: 65,562 with the header), and buffers that it takes of a
 * receiver: each other port of a network may have so many for a frame on its way. */
#define PORT_LARGE_MAX     65550U
#define PORT_LARGE_PARTS   VIRTQUEUE_PARTS /* of a sender; Linux has 19 at most */
#define PORT_LARGE_BUFFERS 48U

/* A frame on its way. It is kept between two stays; only for the user of the queue that sends. */
struct port_offload {
	struct frame frame;
	uint32_t to; /* mask of the ports that get it; 0: there is none */
	/* At the port that it is copied to now: buffers that were taken, and their epoch. */
	uint32_t n;
	uint64_t epoch;
	uint16_t first; /* entry of the available ring of the first one */
	uint64_t room;  /* bytes of all */
	struct virtqueue_part buffers[PORT_LARGE_BUFFERS];
	uint32_t heads[PORT_LARGE_BUFFERS];
	uint64_t copied; /* bytes in all */
	struct port_copy copy;
};

/* Whether the sender's header is one that receivers may get, for a frame of so many bytes. */
bool port_offload_accepts(const struct port_header *h, uint64_t bytes);

/* Whether there is time in this stay to look at one frame more. */
bool port_offload_may_go_on(const struct sending *s);

/* Copies the frame to a port, or as much as there is time for in this stay. Returns whether it is
 * done there: received or lost. */
bool port_offload_deliver(struct sending *s, struct port *to);

/* The sender's queue has stopped: what was taken for its frame goes back. The caller holds the lock
 * of the VM's devices, and nobody uses the queue. */
void port_offload_stop(struct port *p);

#endif
