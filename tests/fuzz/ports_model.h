/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What docs/networks.md and VIRTIO 1.2 (2.7, 5.1.6) say that a notification does: to the memory of
 * all VMs, of which this has copies, and to counts and interrupts. For the VMs of ports_driver.h.
 * Drivers accept no features but those here. Network 0 may have offloads: then this follows a frame
 * in each of its stays (ports_model_offload.c).
 */
#ifndef TESTS_FUZZ_PORTS_MODEL_H
#define TESTS_FUZZ_PORTS_MODEL_H

#include "tests/host/ports_driver.h"

#define MODEL_PORTS    5U
#define MODEL_FEATURES (INDIRECT | EVENT_IDX | VERSION_1 | MAC_STATUS | 8)
#define MODEL_OFFLOADS 0x9983U /* where the network has them */
#define MODEL_CHECKED  (HEADER + 14U)
#define MODEL_PARTS    19U
#define MODEL_BUFFERS  48U

struct model_buffer {
	uint32_t head, n;
	uint64_t size;
	struct {
		uint64_t at, size;
	} parts[MODEL_PARTS];
};

struct model_queue {
	bool started, live, malformed;
	bool owed; /* of buffers that came back the driver is told with the next frame */
	uint32_t resets;
	uint64_t desc, avail, used; /* offsets in its VM's memory */
	uint32_t size;
	uint16_t next, n_used;
};

/* A frame with offloads on its way. */
struct model_way {
	struct model_buffer from;
	uint8_t first[MODEL_CHECKED];
	uint32_t to;      /* mask of ports; 0: there is none */
	uint32_t reached; /* the port that it is copied to */
	/* What was taken there. */
	uint32_t n, heads[MODEL_BUFFERS];
	uint64_t at[MODEL_BUFFERS], sizes[MODEL_BUFFERS];
	uint32_t resets; /* as that queue had it */
	uint16_t entry;  /* of the first buffer */
	uint64_t room, copied;
};

/* How far the device says that it is after a stay, which the model does not know: how long stays
 * are is not its matter. */
struct model_progress {
	uint16_t next; /* entry of the queue that sends */
	bool more;     /* it has asked for another stay */
	uint32_t to, reached, n;
	uint64_t copied;
};

struct model_port {
	struct driver d; /* which port it is */
	uint32_t station, network;
	bool down, live, indirect, event, offload;
	uint32_t isr;
	bool broken; /* it needs a reset */
	struct model_queue queues[PORT_QUEUES];
	struct port_counts counts;
	struct model_way way;
};

extern struct model_port model_ports[MODEL_PORTS];
extern uint8_t model_rams[STATIONS][BYTES];

/* All as stations_make() leaves it; whether network 0 has offloads. */
void model_make(bool offload);

/* The driver of this port has written a register: reads what is set up. */
void model_changed(struct model_port *p);

/* A life begins, or is over: the registers are those after reset. */
void model_reset(struct model_port *p, bool alive);

/* The driver notifies the queue that sends. Returns how many frames it took. */
uint32_t model_notify(struct model_port *p);

/* --- networks with offloads: ports_model_offload.c -------------------------------------------- */

/* A stay of a notification: the port is as far as *now says then. */
void model_stay(struct model_port *p, const struct model_progress *now);

/* Whether receivers may get the header before a frame of so many bytes. */
bool model_accepts(const uint8_t *header, uint64_t bytes);

/* The queue that sends has stopped: its frame is on its way no more. */
void model_stop_way(struct model_port *p);

/* --- what both have from ports_model.c ---------------------------------------------------------
 */

uint64_t model_get(const struct model_port *p, uint64_t at, uint32_t width);
void model_set(const struct model_port *p, uint64_t at, uint32_t width, uint64_t value);

/* The n-th byte of a buffer, and how many there are from there on in its part. */
uint64_t model_place(const struct model_buffer *b, uint64_t n);
uint64_t model_left(const struct model_buffer *b, uint64_t n);

/* 1: there is a buffer; 0: none; -1: the queue is malformed. */
int model_peek(const struct model_port *p, const struct model_queue *q, bool writes, uint32_t most,
               struct model_buffer *b);

/* Puts a buffer into the used ring; then n of them are the driver's. Returns whether it wants an
 * interrupt. */
void model_put(const struct model_port *p, struct model_queue *q, uint32_t head, uint64_t len);
bool model_publish(const struct model_port *p, struct model_queue *q, uint32_t n);

void model_give_up(struct model_queue *q);

/* Asks to be told of the next frame. Returns whether there is one already. */
bool model_listen(const struct model_port *p, const struct model_queue *q);

/* Looks at a frame. Returns a mask of the ports to which it goes; *good: it is not refused. */
uint32_t model_targets(struct model_port *p, const struct model_buffer *b,
                       uint8_t first[MODEL_CHECKED], bool *good);

/* The frame is done with. Returns a mask of the ports that have to be told. */
uint32_t model_finish(struct model_port *p, const struct model_buffer *b, bool good);

void model_tell(uint32_t ports);

#endif
