/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drivers of networks with offloads, in front of the VMs of ports_driver.h: frames of up to 64 KiB,
 * in buffers that they choose. For test_ports_offload.c, test_ports_offload_stays.c and
 * test_ports_offload_hostile.c.
 */
#ifndef TESTS_HOST_PORTS_LARGE_H
#define TESTS_HOST_PORTS_LARGE_H

#include "tests/host/ports_driver.h"

#define STATUS 0x14U
#define BROKEN 0x4fU
#define MORE   1U /* flags of descriptors */
#define WRITES 2U
#define LEADS  4U

/* VIRTIO 1.2, 5.1.3: what a port offers. */
#define OFFERED 0x9983U

#define LARGEST 65550U
#define PARTS   19U
#define MANY    48U /* buffers of a receiver for a frame */
#define ENTRIES 64U /* of the queues here */

/* Places in a VM's memory, behind the areas of the queues. */
#define TABLE    0x7000U
#define RECEIVED 0x8000U
#define SENT     0x20000U

#define CSUM     1U
#define TCPV4    1U
#define TCPV6    4U
#define SEGMENTS 1460U

struct large_header {
	uint8_t flags, segments;
	uint16_t headers, segment_size, csum_start, csum_offset, buffers;
};

extern const struct large_header large_none, large_tcp;
extern struct driver large_drivers[STATIONS];
extern uint32_t large_sizes[STATIONS]; /* of the buffers to receive */
extern bool large_only_sends;          /* large_open_port() enables no queue that receives */

/* A place in VM i's memory. */
uint8_t *large_memory(uint32_t i, uint32_t offset);

/* Offers descriptor `head` as the next buffer. */
void large_offer(uint32_t i, uint32_t queue, uint32_t head);

/* Resets VM i's port, and offers features. Returns the status then. */
uint32_t large_agree(uint32_t i, uint64_t features);

/* Sets up VM i's port, with so many buffers of this size. */
void large_open_port(uint32_t i, uint64_t features, uint32_t buffers, uint32_t size);

/* Makes all VMs, and sets up the ports of network 0. */
void large_start(uint64_t features, uint32_t buffers, uint32_t size);

/* Offers a frame at this offset; its contents follow from its size. */
void large_offer_frame(uint32_t i, const uint8_t to[6], uint32_t size, struct large_header h,
                       uint32_t parts, uint32_t offset);

/* The hart makes the guest go on in one stay. Returns whether it has to again. */
bool large_notify_once(uint32_t i);

/* The same, until it has not. Returns in how many stays. */
uint32_t large_notify(uint32_t i);

/* Sends a frame from one buffer. */
void large_send(uint32_t i, const uint8_t to[6], uint32_t size, struct large_header h);

/* The index of the used ring of the queue that receives, and its next entry. */
uint16_t large_used(uint32_t i);
void large_next_used(uint32_t i, uint32_t *head, uint32_t *size);

/* Takes a frame of VM `from`, and gives its buffers back if `back`. */
void large_assert_frame(uint32_t i, uint32_t from, const uint8_t to[6], uint32_t size,
                        struct large_header expected, bool back);
void large_assert_no_frame(uint32_t i);
void large_assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                         uint64_t lost);
void large_assert_status(uint32_t i, uint32_t status);

#endif
