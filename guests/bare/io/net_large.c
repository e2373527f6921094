/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a network with offloads, which may have 64 KiB and come in several buffers.
 *   role=large   sends frames= of size= bytes to to=, in parts= descriptors, from an address that
 *                is offset= bytes from a multiple of 64; gso=0: as one segment. Prints the mean and
 *                the most of what a notification takes, in instructions as in role=cost, with all
 *                times that it is executed; asked=1: each frame when role=gather asks for it
 *   role=gather  takes frames= frames of size= bytes, checks that they are role=large's, and gives
 *                the buffers back; or, after ticks=, prints what has come. asks=1: it asks to= for
 *                each, when all buffers are free, until it comes
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/net.h"

#define LARGEST 65550U
#define NUMBER  14U /* offset in a frame, behind the type */
#define PATTERN 15U

/* VIRTIO 1.2, 5.1.6: a segmented TCP frame over IPv4. */
struct net_header {
	uint8_t flags, segments;
	uint16_t headers, segment_size, csum_start, csum_offset, buffers;
};
static const struct net_header tcp = {1, 1, 66, 1460, 34, 16, 0};

static uint8_t frame[64 + PORT_HEADER + LARGEST] __attribute__((aligned(64), section(".noinit")));

static uint8_t pattern(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 7 + i * 13 + (i >> 8));
}

static void make(const struct port *p, uint8_t *at, uint32_t number, uint32_t size)
{
	struct net_header h = bootarg_num("gso", 1) ? tcp : (struct net_header){0};

	for (uint32_t i = 0; i < PORT_HEADER; i++)
		at[i] = ((const uint8_t *)&h)[i];
	at += PORT_HEADER;
	for (uint32_t i = 0; i < PORT_MAC; i++) {
		at[i] = i ? 0 : 2;
		at[PORT_MAC + i] = p->mac[i];
	}
	at[PORT_MAC - 1] = (uint8_t)bootarg_num("to", 0);
	at[12] = 0x88;
	at[13] = 0xb5;
	at[NUMBER] = (uint8_t)number;
	for (uint32_t i = PATTERN; i < size; i++)
		at[i] = pattern(number, i);
}

#define REQUEST 60U /* bytes; its number is that of the frame that is asked for */

static void ask(struct port *p, uint32_t number)
{
	make(p, port_frame(p) - PORT_HEADER, number, REQUEST);
	port_offer(p, REQUEST, 1);
	port_notify(p, PORT_SENDS);
}

/* Waits for the request for this frame. Those for earlier frames were repeated before they came. */
static void await_request(struct port *p, uint32_t number)
{
	uint32_t size;
	bool found = false;

	while (!found) {
		const uint8_t *request = port_received(p, &size);

		if (!request) {
			sleep_for(MS);
			continue;
		}
		found = request[NUMBER] == (uint8_t)number;
		port_release(p);
	}
}

int net_large(struct port *p)
{
	uint64_t frames = bootarg_num("frames", 1), all = 0, most = 0;
	uint32_t size = (uint32_t)bootarg_num("size", LARGEST);
	uint8_t *at = &frame[bootarg_num("offset", 0) % 64];

	csr_clear(sie, IRQ_EXTERNAL);
	for (uint64_t n = 0; n < frames; n++) {
		uint64_t before, took;

		if (bootarg_num("asked", 0))
			await_request(p, (uint32_t)n);
		make(p, at, (uint32_t)n, size);
		port_offer_at(p, (uint64_t)at, PORT_HEADER + size,
		              (uint32_t)bootarg_num("parts", 1));
		before = csr_read(time);
		port_notify(p, PORT_SENDS);
		took = csr_read(time) - before;
		all += took;
		most = took > most ? took : most;
		sleep_for(10 * MS);
	}
	print("net: a large frame takes %u instructions, at most %u\n", 100 * all / frames,
	      100 * most);
	return 0;
}

/* Takes the next frame, which has this number, into `frame`. Returns its size and the buffers that
 * it had. */
static uint32_t take(struct port *p, uint32_t number, uint64_t until, uint32_t *buffers)
{
	uint32_t size = 0, bytes;
	bool asks = bootarg_num("asks", 0);
	struct net_header h = {0};

	*buffers = 0;
	do {
		const uint8_t *buffer;

		while (!(buffer = port_buffer(p, &bytes))) {
			/* All of a frame come at once. */
			if (*buffers || (!asks && csr_read(time) >= until))
				return 0;
			if (asks)
				ask(p, number);
			sleep_for(MS);
		}
		for (uint32_t i = 0; i < bytes && size < sizeof(frame); i++)
			frame[size++] = buffer[i];
		h = *(const struct net_header *)(const void *)frame;
		port_release(p);
	} while (++*buffers < h.buffers);
	return size < PORT_HEADER ? 0 : size - PORT_HEADER;
}

static bool is_right(uint32_t size, uint32_t number)
{
	const struct net_header *h = (const void *)frame;
	const uint8_t *at = frame + PORT_HEADER;

	if (size != bootarg_num("size", LARGEST) || at[NUMBER] != (uint8_t)number ||
	    h->flags != tcp.flags || h->segments != tcp.segments || h->headers != tcp.headers ||
	    h->segment_size != tcp.segment_size || h->csum_start != tcp.csum_start ||
	    h->csum_offset != tcp.csum_offset)
		return false;
	for (uint32_t i = PATTERN; i < size; i++) {
		if (at[i] != pattern(number, i))
			return false;
	}
	return true;
}

int net_gather(struct port *p)
{
	uint64_t frames = bootarg_num("frames", 1), all = 0, n = 0, wrong = 0;
	uint64_t until = csr_read(time) + bootarg_num("ticks", 200 * MS);

	csr_clear(sie, IRQ_EXTERNAL);
	for (; n < frames; n++) {
		uint32_t buffers, size = take(p, (uint32_t)n, until, &buffers);

		if (!size)
			break;
		all += buffers;
		wrong += !is_right(size, (uint32_t)n);
	}
	print("net: %u frames in %u buffers, %u wrong\n", n, all, wrong);
	return 0;
}
