/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames, and the station that sends them back: another VM (role=echo of guests/bare/io/net.c), or
 * the second device of this machine. Bytes 14 to 16 of a frame are its kind and its number.
 */
#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/sbi.h"
#include "guests/netcheck/nic.h"

#define PLIC  0x0c000000UL
#define KIND  14U
#define FIRST 17U /* byte of the pattern */
#define DATA  2U
#define END   3U
#define TICKS 1000U /* of a pause */

static struct nic peer;
static bool has_peer;

/* --- frames ---------------------------------------------------------------------------------- */

static uint8_t pattern(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 7 + i * 13 + (i >> 8));
}

static uint8_t *make(struct nic *n, uint32_t slot, uint32_t kind, uint32_t number, uint32_t size)
{
	uint8_t *at = n->queues[SENDS].buffers[slot], *frame = at + HEADER;

	for (uint32_t i = 0; i < HEADER; i++)
		at[i] = 0;
	for (uint32_t i = 0; i < MAC; i++) {
		frame[i] = 0xff;
		frame[MAC + i] = n->mac[i];
	}
	frame[12] = 0x88; /* a type for experiments */
	frame[13] = 0xb5;
	frame[KIND] = (uint8_t)kind;
	frame[KIND + 1] = (uint8_t)number;
	frame[KIND + 2] = (uint8_t)(number >> 8);
	for (uint32_t i = FIRST; i < size; i++)
		frame[i] = pattern(number, i);
	return at;
}

uint8_t *nic_frame(struct nic *n, uint32_t slot, uint32_t number, uint32_t size)
{
	return make(n, slot, DATA, number, size);
}

uint8_t *nic_frame_away(struct nic *n, uint32_t slot, uint32_t size)
{
	static const uint8_t nobody[MAC] = {2, 0, 0, 0, 0, 0x77};
	uint8_t *at = make(n, slot, DATA, 0, size);

	for (uint32_t i = 0; i < MAC; i++)
		at[HEADER + i] = nobody[i];
	return at;
}

bool nic_is_answer(const struct nic *n, const uint8_t *at, uint32_t len, uint32_t number,
                   uint32_t size)
{
	const uint8_t *frame = at + HEADER;

	if (len != HEADER + size || frame[KIND] != DATA || frame[12] != 0x88 || frame[13] != 0xb5 ||
	    (frame[KIND + 1] | (uint32_t)frame[KIND + 2] << 8) != (uint16_t)number)
		return false;
	for (uint32_t i = 0; i < MAC; i++) {
		if (frame[i] != n->mac[i])
			return false;
	}
	for (uint32_t i = FIRST; i < size; i++) {
		if (frame[i] != pattern(number, i))
			return false;
	}
	return true;
}

static void send(struct nic *n, const uint8_t *at, uint32_t size)
{
	nic_describe(n, SENDS, 0, at, HEADER + size, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
}

bool nic_exchange(struct nic *n, uint32_t number, uint32_t size)
{
	bool came = false;

	send(n, nic_frame(n, 0, number, size), size);
	if (!nic_await(n, SENDS, 1))
		return false;
	(void)nic_take(n, SENDS);
	while (!came && nic_await(n, RECEIVES, 1)) {
		struct used d = nic_take(n, RECEIVES);

		came = nic_is_answer(n, n->queues[RECEIVES].buffers[d.id % SLOTS], d.len, number,
		                     size);
		nic_offer(n, RECEIVES, d.id);
	}
	return came;
}

void nic_quiet(struct nic *n)
{
	for (uint32_t i = 0; i < 20; i++) {
		pause();
		while (nic_waiting(n, RECEIVES)) {
			nic_offer(n, RECEIVES, nic_take(n, RECEIVES).id);
			i = 0;
		}
	}
	while (irq_take(n))
		;
}

void nic_end_peer(struct nic *n)
{
	if (nic_start(n, 0, SLOTS)) {
		send(n, make(n, 0, END, 0, 60), 60);
		(void)nic_await(n, SENDS, 1);
	}
}

/* --- the station that is here, if there is one ----------------------------------------------- */

bool peer_open(void)
{
	has_peer = nic_find(&peer, 1);
	if (!has_peer)
		return true;
	if (!nic_start(&peer, 0, SLOTS))
		return false;
	peer.queues[RECEIVES].avail[0] = peer.queues[SENDS].avail[0] = 1; /* it polls */
	return true;
}

static bool is_for(const uint8_t *frame, const uint8_t mac[MAC])
{
	bool all = true, own = true;

	for (uint32_t i = 0; i < MAC; i++) {
		all &= frame[i] == 0xff;
		own &= frame[i] == mac[i];
	}
	return all || own;
}

void peer_serve(void)
{
	while (has_peer && nic_waiting(&peer, RECEIVES)) {
		struct used d = nic_take(&peer, RECEIVES);
		const uint8_t *from = peer.queues[RECEIVES].buffers[d.id % SLOTS];
		uint32_t slot = peer.queues[SENDS].next % SLOTS;
		uint8_t *to = peer.queues[SENDS].buffers[slot];

		for (uint32_t i = 0; i < d.len; i++)
			to[i] = i < HEADER ? 0 : from[i];
		for (uint32_t i = 0; i < MAC; i++) {
			to[HEADER + i] = from[HEADER + MAC + i];
			to[HEADER + MAC + i] = peer.mac[i];
		}
		if (is_for(from + HEADER, peer.mac)) {
			nic_describe(&peer, SENDS, slot, to, d.len, 0, 0);
			nic_offer(&peer, SENDS, slot);
			nic_kick(&peer, SENDS);
		}
		nic_offer(&peer, RECEIVES, d.id);
	}
}

void pause(void)
{
	peer_serve();
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + TICKS, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	__asm__ volatile("wfi");
	csr_clear(sie, IRQ_TIMER);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

/* --- interrupts ------------------------------------------------------------------------------ */

static uint32_t source;
static uint64_t context;

void irq_open(void)
{
	source = (uint32_t)bootarg_num("source", 31);
	context = bootarg_num("context", 0);
	out32(PLIC + 4UL * source, 1);
	out32(PLIC + 0x2000 + 0x80 * context + source / 32 * 4, 1U << source % 32);
	out32(PLIC + 0x200000 + 0x1000 * context, 0);
}

bool irq_claim(void)
{
	return source && in32(PLIC + 0x200004 + 0x1000 * context) == source;
}

void irq_done(void)
{
	out32(PLIC + 0x200004 + 0x1000 * context, source);
}

uint32_t irq_take(const struct nic *n)
{
	uint32_t status;

	if (!irq_claim())
		return 0;
	status = in8(n->isr);
	irq_done();
	return status;
}
