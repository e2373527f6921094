/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/netcheck/nic.h"

#define ECAM      0x30000000UL
#define DEVICES   32U
#define ID        0x10411af4U
#define VENDOR    9U /* a capability */
#define CAPS_MOST 48U
#define PATIENCE  500U /* pauses */
/* Where BARs go that nobody gave an address: in the window of QEMU's machine. */
#define BARS     0x40000000UL
#define BAR_STEP 0x100000UL

/* Of each device and queue: what the sizes allow, aligned as 2.7 says. */
static struct {
	struct descriptor desc[MOST];
	uint16_t used[4 * MOST + 4], avail[MOST + 4];
} areas[2][QUEUES] __attribute__((aligned(64), section(".noinit")));
static uint8_t buffers[2][QUEUES][SLOTS][ROOM] __attribute__((aligned(64), section(".noinit")));

/* --- the function --------------------------------------------------------------------------- */

/* Gives each memory BAR an address, unless it has one. */
static void place_bars(struct nic *n, uint32_t number)
{
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t at = n->page + PCI_BAR + 4UL * i;
		uint32_t low = in32(at);
		bool wide = (low & 7) == 4;

		out32(at, ~0U);
		if (in32(at) && !(low & 1)) {
			n->bars[i] = (low & ~15U) | (wide ? (uint64_t)in32(at + 4) << 32 : 0);
			if (!n->bars[i])
				n->bars[i] = BARS + (6 * number + i) * BAR_STEP;
			out32(at, (uint32_t)n->bars[i]);
			if (wide)
				out32(at + 4, (uint32_t)(n->bars[i] >> 32));
		} else {
			out32(at, low);
		}
		i += wide;
	}
}

static void find_structures(struct nic *n)
{
	uint32_t cap = in8(n->page + PCI_CAPABILITIES);

	for (uint32_t i = 0; cap && i < CAPS_MOST; i++, cap = in8(n->page + cap + 1)) {
		uint32_t kind = in8(n->page + cap + 3);
		struct structure *s = &n->structures[kind < STRUCTURES ? kind : 0];

		if (in8(n->page + cap) != VENDOR || s->count++)
			continue;
		s->cap = cap;
		s->bar = in8(n->page + cap + 4);
		s->offset = in32(n->page + cap + 8);
		s->length = in32(n->page + cap + 12);
		s->at = s->bar < 6 && n->bars[s->bar] ? n->bars[s->bar] + s->offset : 0;
	}
	n->common = n->structures[COMMON_CFG].at;
	n->notify = n->structures[NOTIFY_CFG].at;
	n->isr = n->structures[ISR_CFG].at;
	n->config = n->structures[DEVICE_CFG].at;
	n->multiplier = in32(n->page + n->structures[NOTIFY_CFG].cap + 16);
}

bool nic_find(struct nic *n, uint32_t number)
{
	uint32_t left = number;

	for (uint32_t i = 0; i < DEVICES && !n->page; i++) {
		uint64_t page = ECAM + ((uint64_t)i << 15);

		if (in32(page) == ID && !left--)
			n->page = page;
	}
	if (!n->page)
		return false;
	out16(n->page + PCI_COMMAND, 0);
	place_bars(n, number);
	find_structures(n);
	out16(n->page + PCI_COMMAND, PCI_MEMORY | PCI_MASTER);
	for (uint32_t i = 0; i < QUEUES; i++)
		n->queues[i] = (struct queue){.desc = areas[number][i].desc,
		                              .avail = areas[number][i].avail,
		                              .used = areas[number][i].used,
		                              .buffers = buffers[number][i]};
	for (uint32_t i = 0; i < MAC; i++)
		n->mac[i] = n->config ? in8(n->config + i) : 0;
	return n->common && n->notify && n->isr && n->config;
}

/* --- the device ----------------------------------------------------------------------------- */

uint8_t nic_status(const struct nic *n)
{
	return in8(n->common + DEVICE_STATUS);
}

void nic_set_status(const struct nic *n, uint32_t status)
{
	out8(n->common + DEVICE_STATUS, (uint8_t)status);
}

bool nic_reset(const struct nic *n)
{
	nic_set_status(n, 0);
	for (uint32_t i = 0; i < 100 && nic_status(n); i++)
		pause();
	return !nic_status(n);
}

static uint64_t halves(const struct nic *n, uint32_t select, uint32_t word)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < 2; i++) {
		out32(n->common + select, i);
		value |= (uint64_t)in32(n->common + word) << 32 * i;
	}
	return value;
}

uint64_t nic_offered(const struct nic *n)
{
	return halves(n, DEVICE_FEATURE_SELECT, DEVICE_FEATURE);
}

uint64_t nic_accepted(const struct nic *n)
{
	return halves(n, DRIVER_FEATURE_SELECT, DRIVER_FEATURE);
}

void nic_accept(const struct nic *n, uint64_t features)
{
	for (uint32_t i = 0; i < 2; i++) {
		out32(n->common + DRIVER_FEATURE_SELECT, i);
		out32(n->common + DRIVER_FEATURE, (uint32_t)(features >> 32 * i));
	}
}

bool nic_agree(const struct nic *n, uint64_t features)
{
	if (!nic_reset(n))
		return false;
	nic_set_status(n, ACKNOWLEDGE);
	nic_set_status(n, ACKNOWLEDGE | DRIVER);
	nic_accept(n, features);
	nic_set_status(n, SET_UP);
	return nic_status(n) & FEATURES_OK;
}

void nic_select(const struct nic *n, uint32_t queue)
{
	out16(n->common + QUEUE_SELECT, (uint16_t)queue);
}

static void set_area(const struct nic *n, uint32_t offset, const volatile void *at)
{
	out32(n->common + offset, (uint32_t)(uint64_t)at);
	out32(n->common + offset + 4, (uint32_t)((uint64_t)at >> 32));
}

void nic_set_queue(struct nic *n, uint32_t queue, uint32_t size)
{
	struct queue *q = &n->queues[queue];

	q->size = (uint16_t)size;
	q->next = q->seen = 0;
	for (uint32_t i = 0; i < size; i++)
		q->desc[i] = (struct descriptor){0};
	for (uint32_t i = 0; i < size + 3; i++)
		q->avail[i] = 0;
	for (uint32_t i = 0; i < 4 * size + 3; i++)
		q->used[i] = 0;
	nic_select(n, queue);
	out16(n->common + QUEUE_SIZE, (uint16_t)size);
	set_area(n, QUEUE_DESC, q->desc);
	set_area(n, QUEUE_DRIVER, q->avail);
	set_area(n, QUEUE_DEVICE, q->used);
	out16(n->common + QUEUE_ENABLE, 1);
}

bool nic_start(struct nic *n, uint64_t features, uint32_t size)
{
	if (!nic_agree(n, features | F_VERSION_1))
		return false;
	for (uint32_t i = 0; i < QUEUES; i++)
		nic_set_queue(n, i, size);
	nic_set_status(n, SET_UP | DRIVER_OK);
	for (uint32_t i = 0; i < size && i < SLOTS; i++) {
		nic_describe(n, RECEIVES, i, n->queues[RECEIVES].buffers[i], ROOM, WRITE, 0);
		nic_offer(n, RECEIVES, i);
	}
	nic_kick(n, RECEIVES);
	return nic_status(n) == (SET_UP | DRIVER_OK);
}

/* --- queues ---------------------------------------------------------------------------------- */

void nic_describe(struct nic *n, uint32_t queue, uint32_t i, const void *at, uint32_t len,
                  uint32_t flags, uint32_t next)
{
	n->queues[queue].desc[i] =
	    (struct descriptor){(uint64_t)at, len, (uint16_t)flags, (uint16_t)next};
}

void nic_kick(const struct nic *n, uint32_t queue)
{
	uint32_t off;

	nic_select(n, queue);
	off = in16(n->common + QUEUE_NOTIFY_OFF);
	fence();
	out16(n->notify + (uint64_t)off * n->multiplier, (uint16_t)queue);
}

void nic_offer(struct nic *n, uint32_t queue, uint32_t head)
{
	struct queue *q = &n->queues[queue];

	q->avail[2 + q->next % q->size] = (uint16_t)head;
	fence();
	q->avail[1] = ++q->next;
	/* A device that had none waits for it (2.7.10.1). */
	if (queue == RECEIVES)
		nic_kick(n, queue);
}

uint16_t nic_waiting(const struct nic *n, uint32_t queue)
{
	uint16_t idx = n->queues[queue].used[1];

	fence();
	return (uint16_t)(idx - n->queues[queue].seen);
}

bool nic_await(const struct nic *n, uint32_t queue, uint32_t count)
{
	for (uint32_t i = 0; i < PATIENCE && nic_waiting(n, queue) < count; i++)
		pause();
	return nic_waiting(n, queue) >= count;
}

struct used nic_take(struct nic *n, uint32_t queue)
{
	struct queue *q = &n->queues[queue];
	const volatile uint32_t *entry =
	    (const volatile uint32_t *)&q->used[2 + 4 * (q->seen++ % q->size)];

	return (struct used){.id = entry[0], .len = entry[1]};
}

volatile uint16_t *nic_used_event(const struct nic *n, uint32_t queue)
{
	return &n->queues[queue].avail[2 + n->queues[queue].size];
}

volatile uint16_t *nic_avail_event(const struct nic *n, uint32_t queue)
{
	return &n->queues[queue].used[2 + 4 * n->queues[queue].size];
}
