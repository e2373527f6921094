/* SPDX-License-Identifier: Apache-2.0 */
/* A driver for a port of a network, a virtio network device: on the guest's PCI bus, or with the
 * bootarg virt=yes in a slot of QEMU's machine "virt". */
#ifndef GUESTS_PORT_H
#define GUESTS_PORT_H

#include <stdbool.h>
#include <stdint.h>

#define PORT_QUEUE  64U   /* buffers of each queue, a power of two */
#define PORT_BUFFER 2048U /* bytes, with the header */
#define PORT_HEADER 12U   /* of virtio, before each frame */
#define PORT_MAC    6U

/* Features that the guest may accept. */
#define PORT_INDIRECT 0x10000000U
#define PORT_EVENTS   0x20000000U
#define PORT_OFFLOADS 0x9983U /* checksums, segmentation and mergeable buffers */

enum { PORT_RECEIVES, PORT_SENDS, PORT_QUEUES };

struct port_ring {
	struct port_descriptor {
		uint64_t address;
		uint32_t length;
		uint16_t flags, next;
	} descriptors[PORT_QUEUE];
	struct {
		uint16_t flags, index, ring[PORT_QUEUE], event;
	} available __attribute__((aligned(4)));
	struct {
		uint16_t flags, index;
		struct {
			uint32_t id, length;
		} ring[PORT_QUEUE];
		uint16_t event;
	} used __attribute__((aligned(4)));
} __attribute__((aligned(16)));

struct port {
	uint64_t slot; /* 0: it is a PCI function, with these */
	uint64_t common, notify, isr, config;
	uint32_t multiplier, features;
	uint32_t source, context;    /* of the PLIC */
	uint16_t next[PORT_QUEUES];  /* buffers that the guest has offered to each queue */
	uint16_t taken[PORT_QUEUES]; /* and those that it has got back */
	uint8_t mac[PORT_MAC];
};

extern struct port_ring port_rings[PORT_QUEUES];

/* Finds the first port, sets it up with the features that both have, and offers buffers of so many
 * bytes for frames: `buffers` of them. Returns false if there is no port. */
bool port_open(struct port *p, uint32_t features, uint32_t buffers, uint32_t bytes);

/* Returns room for the next frame to send. Waits for a buffer to come back if there is none. */
uint8_t *port_frame(struct port *p);

/* Offers that frame, of so many bytes, in so many parts, but does not notify the device. */
void port_offer(struct port *p, uint32_t size, uint32_t parts);
/* Offers so many bytes from an address on, the header among them. */
void port_offer_at(struct port *p, uint64_t at, uint32_t bytes, uint32_t parts);
void port_notify(const struct port *p, uint32_t queue);

/* Returns the next frame that has come, and its size. NULL: there is none. */
uint8_t *port_received(struct port *p, uint32_t *size);

/* Returns the next buffer that has come, from its header on, and the bytes in it. NULL: none. */
uint8_t *port_buffer(const struct port *p, uint32_t *bytes);

/* Gives the buffer of that frame back. */
void port_release(struct port *p);

/* Sleeps until the port interrupts, and takes the interrupt. Returns its ISR status. */
uint8_t port_wait(struct port *p);
#define PORT_CHANGED 2U /* the configuration is another one */

bool port_is_up(const struct port *p);
uint32_t port_generation(const struct port *p);

uint8_t port_status(const struct port *p);

#endif
