/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VMs with ports of networks, each with memory of its own and a driver as the specification has it
 * (VIRTIO 1.2, 2.7 and 5.1), for test_ports.c, test_port_limits.c, test_port_messages.c,
 * test_ports_threads.c and, with ports_large.h, test_ports_offload.c and others.
 *
 *   network 0: the first ports of VMs 0, 1 and 2; that of VM 2 is the uplink
 *   network 1: the second port of VM 0, and the first of VM 3
 */
#ifndef TESTS_HOST_PORTS_DRIVER_H
#define TESTS_HOST_PORTS_DRIVER_H

#include "core/io/ports_parts.h"

#define STATIONS 4U
#define RAM      UINT64_C(0x80000000) /* of each guest */
#define BYTES    0x40000U
#define QUEUE    16U   /* buffers */
#define ROOM     2048U /* bytes of a buffer */
#define HEADER   12U   /* of virtio, before each frame */
#define LEAST    14U   /* bytes of a frame */
#define MOST     1518U

#define MASTERS    6U /* memory, and masters the bus */
#define NO_INTX    0x400U
#define INDIRECT   0x10000000U /* features */
#define EVENT_IDX  0x20000000U
#define VERSION_1  0x100000000UL
#define MAC_STATUS 0x10020U
/* The offloads that a driver has to take, which is one for buffers of MERGED bytes then. */
#define OFFLOADS 0x8182U
#define MERGED   512U

/* A port's driver. Its queues are at a place of the VM's memory that no other port has. */
struct driver {
	struct vm *vm;
	uint32_t n;                     /* the VM's n-th port */
	uint64_t features;              /* that it has accepted */
	uint16_t given[PORT_QUEUES];    /* buffers that it has offered */
	uint16_t got[PORT_QUEUES];      /* and those that it has got back */
	uint64_t sent, received, wrong; /* frames */
};

extern struct vm stations[STATIONS];
extern uint8_t rams[STATIONS][BYTES];

/* The level of each VM's interrupts, and how often it has risen. */
extern bool levels[STATIONS];
extern uint32_t raised[STATIONS];

/* What csr_read(CSR_INSTRET) adds to the last answer. */
extern uint64_t instret_step;

/* What csr_read(CSR_TIME) answers. */
extern uint64_t machine_time;

/* The vcpu that makes accesses, of the calling thread. */
extern _Thread_local struct vcpu *driver_vcpu;

/* Sets the limits of VM 0's first port, for stations_make(); 0: none, as at first. */
void stations_limit(uint32_t frames_per_ms, uint32_t bytes_per_ms);

/* VMs that stations_make() gives machine = "virt": bit n is VM n. Their ports are in slots from
 * FIRST_SLOT on. */
#define FIRST_SLOT 2U
extern uint32_t stations_virt;
/* VMs that stations_make() gives an AIA: bit n is VM n. Each has VCPUS vcpus with an interrupt
 * file, whose page has the address FILE_OF(). */
#define VCPUS                 2U
#define FILE_OF(number, vcpu) (0x28001000UL + 0x1000UL * (VCPUS * (number) + (vcpu)))
extern uint32_t stations_aia;
/* The messages that were sent, and the last ones of them. */
#define MESSAGES 16U
struct sent_message {
	uint64_t file;
	uint32_t identity;
};
extern struct sent_message messages[MESSAGES];
extern uint32_t n_messages;

/* Sets whether network 0 has offloads, for stations_make(); not at first. */
void stations_offload(bool on);

/* Lines that the log would have. */
extern uint32_t logged;

/* Makes all VMs, their networks and ports, and begins a life of each. */
void stations_make(void);

/* Accesses to registers at the offsets of BAR 0 of a PCI function. In a slot they are those to the
 * same register there, by 32 bits below the device's configuration; an offset without one is that
 * of the slot. A read of ISR status acknowledges what it returns. */
uint64_t in(const struct driver *d, uint32_t offset, uint32_t width);
void out(const struct driver *d, uint32_t offset, uint64_t value, uint32_t width);
/* The same by the offsets of a slot. */
uint64_t slot_in(const struct driver *d, uint32_t offset, uint32_t width);
void slot_out(const struct driver *d, uint32_t offset, uint64_t value, uint32_t width);

/* Accesses to configuration space; a port in a slot has none. */
bool driver_is_in_slot(const struct driver *d);
uint32_t space(const struct driver *d, uint32_t offset);
void set_space(const struct driver *d, uint32_t offset, uint32_t value);

/* The place in its VM's memory of an area of a queue (VIRTIO_DESCRIPTORS, ...), or of a buffer. */
uint8_t *driver_area(const struct driver *d, uint32_t queue, uint32_t which);
uint8_t *driver_buffer(const struct driver *d, uint32_t queue, uint32_t slot);
uint64_t driver_address(const struct driver *d, const uint8_t *at);

/* The n-th 16-bit word of an area. */
uint16_t *driver_word(const struct driver *d, uint32_t queue, uint32_t which, uint32_t n);

/* The i-th byte of frame `number`, from 16 on. */
uint8_t driver_contents(uint32_t number, uint32_t i);

void driver_describe(const struct driver *d, uint32_t queue, uint32_t n, uint64_t address,
                     uint32_t size, uint32_t flags, uint32_t next);

/* Offers descriptor `head` as the next buffer. */
void driver_offer(struct driver *d, uint32_t queue, uint32_t head);

/* Sets up the VM's n-th port, with these features, and offers so many buffers for frames. */
void driver_start(struct driver *d, uint32_t station, uint32_t n, uint64_t features,
                  uint32_t buffers);

/* Sends a frame of so many bytes, whose contents follow from `number`; waits for nothing. Returns
 * false if all buffers are with the device. */
bool driver_frame(struct driver *d, const uint8_t to[6], uint32_t number, uint32_t size);
/* Notifies the device, again and again if it asks for that. */
void driver_notify(const struct driver *d);

/* Takes frames that have come, checks each, and gives the buffers back, as it does with those in
 * which there is nothing. Returns how many frames. */
uint32_t driver_take(struct driver *d);

uint64_t driver_used(const struct driver *d, uint32_t queue);

extern const uint8_t macs[STATIONS][6], broadcast[6];

struct port_counts driver_counts(const struct driver *d);

#endif
