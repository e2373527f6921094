/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What docs/networks.md and VIRTIO 1.2 (2.7, 5.1.6) say that a notification does: to the memory of
 * all VMs, of which this has copies, and to counts and interrupts. For the VMs of ports_driver.h.
 * Drivers accept no features but those here.
 */
#ifndef TESTS_FUZZ_PORTS_MODEL_H
#define TESTS_FUZZ_PORTS_MODEL_H

#include "tests/host/ports_driver.h"

#define MODEL_PORTS    5U
#define MODEL_FEATURES (INDIRECT | EVENT_IDX | VERSION_1 | MAC_STATUS | 8)

struct model_queue {
	bool started, live, malformed;
	uint64_t desc, avail, used; /* offsets in its VM's memory */
	uint32_t size;
	uint16_t next, n_used;
};

struct model_port {
	struct driver d; /* which port it is */
	uint32_t station, network;
	bool down, live, indirect, event;
	uint32_t isr;
	bool broken; /* it needs a reset */
	struct model_queue queues[PORT_QUEUES];
	struct port_counts counts;
};

extern struct model_port model_ports[MODEL_PORTS];
extern uint8_t model_rams[STATIONS][BYTES];

/* All as stations_make() leaves it. */
void model_make(void);

/* The driver of this port has written a register: reads what is set up. */
void model_changed(struct model_port *p);

/* A life begins, or is over: the registers are those after reset. */
void model_reset(struct model_port *p, bool alive);

/* The driver notifies the queue that sends. Returns how many frames it took. */
uint32_t model_notify(struct model_port *p);

#endif
