/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gust of tempest by a port of a network: as many frames as the queue has to all others, in as
 * many descriptors as there may be; or a queue that is malformed in one of several ways, then a
 * reset. It takes no interrupt.
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/port.h"

#define FRAME 1514U
#define POURS 5U /* of six gusts */

static struct port port;

static void open(void)
{
	port_rings[PORT_SENDS].available.flags = 1;
	port_rings[PORT_SENDS].available.index = port_rings[PORT_SENDS].used.index = 0;
	(void)port_open(&port, PORT_INDIRECT, 0, FRAME);
	csr_clear(sie, IRQ_EXTERNAL);
}

static uint64_t pour(uint32_t parts)
{
	for (uint32_t n = 0; n < PORT_QUEUE; n++) {
		uint8_t *frame = port_frame(&port);

		for (uint32_t i = 0; i < PORT_MAC; i++) {
			frame[i] = 0xff;
			frame[PORT_MAC + i] = port.mac[i];
		}
		port_offer(&port, FRAME, parts);
	}
	port_notify(&port, PORT_SENDS);
	return PORT_QUEUE;
}

/* Each time another one. All are offered at once, and the first one is malformed. */
static uint64_t malform(uint32_t way)
{
	struct port_ring *ring = &port_rings[PORT_SENDS];
	struct port_descriptor *d = &ring->descriptors[0];
	const struct port_descriptor bad[] = {
	    {0x0f000000, FRAME, 0, 0},                          /* outside of its memory */
	    {(uint64_t)ring, 0, 0, 0},                          /* of no bytes */
	    {(uint64_t)ring, 16, 1, 0},                         /* a circle */
	    {(uint64_t)ring, sizeof(ring->descriptors), 4, 0},  /* a table that leads to itself */
	    {(uint64_t)ring, FRAME, 1, (uint16_t)(PORT_QUEUE)}, /* goes on outside of the table */
	    {(uint64_t)ring, FRAME, 2, 0},                      /* to be written */
	};

	*d = bad[way % (sizeof(bad) / sizeof(bad[0]))];
	for (uint32_t i = 0; i < PORT_QUEUE; i++)
		ring->available.ring[i] = 0;
	*(volatile uint16_t *)&ring->available.index += (uint16_t)(way & 8 ? 0x8000 : PORT_QUEUE);
	port_notify(&port, PORT_SENDS);
	open();
	return 1;
}

uint64_t tempest_frames(void)
{
	static uint32_t turn;

	if (!turn)
		open();
	if (++turn % (POURS + 1))
		return pour(turn % (POURS + 1) + 1);
	return malform(turn / (POURS + 1));
}
