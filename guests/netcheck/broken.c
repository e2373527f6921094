/* SPDX-License-Identifier: Apache-2.0 */
/* Queues that no driver may make, and resets (VIRTIO 1.2, 2.1.2, 2.4). */
#include "guests/lib/guest.h"
#include "guests/netcheck/netcheck.h"

#define OUTSIDE 0x0f000000UL /* no RAM */

static struct descriptor table[4] __attribute__((aligned(16)));

/* What is wrong with the first buffer of a queue. */
struct fault {
	const char *name;
	uint64_t features;
	struct descriptor d;  /* addr 0: a buffer's; 1: the table's; more: as it is */
	uint16_t head, ahead; /* buffers more than there are */
	bool no_write;        /* only for a queue that sends */
};

static const struct fault faults[] = {
    {.name = "a descriptor of no bytes", .d = {0, 0, 0, 0}},
    {.name = "a descriptor outside of memory", .d = {OUTSIDE, 100, 0, 0}},
    {.name = "a descriptor that ends outside of all addresses", .d = {~63UL, 100, 0, 0}},
    {.name = "a next outside of the table", .d = {0, 100, NEXT, SLOTS}},
    {.name = "a chain that is a circle", .d = {0, 100, NEXT, 0}},
    {.name = "a head outside of the table", .d = {0, 100, 0, 0}, .head = SLOTS},
    {.name = "more buffers than the queue has", .d = {0, 100, 0, 0}, .ahead = SLOTS + 1},
    {.name = "a table without INDIRECT_DESC", .d = {1, 16, INDIRECT, 0}, .no_write = true},
    {.name = "a table and NEXT",
     .features = F_INDIRECT_DESC,
     .d = {1, 16, INDIRECT | NEXT, 1},
     .no_write = true},
    {.name = "a table of no whole descriptors",
     .features = F_INDIRECT_DESC,
     .d = {1, 24, INDIRECT, 0},
     .no_write = true},
    {.name = "a table of no bytes",
     .features = F_INDIRECT_DESC,
     .d = {1, 0, INDIRECT, 0},
     .no_write = true},
    {.name = "a table outside of memory",
     .features = F_INDIRECT_DESC,
     .d = {OUTSIDE, 16, INDIRECT, 0},
     .no_write = true},
    {.name = "a table in a table",
     .features = F_INDIRECT_DESC,
     .d = {1, 32, INDIRECT, 1},
     .no_write = true},
};

static bool is_nested(const struct fault *f)
{
	return f->d.addr == 1 && f->d.len == 32;
}

static void make(struct nic *n, uint32_t queue, const struct fault *f)
{
	struct queue *q = &n->queues[queue];
	uint32_t write = queue == RECEIVES ? WRITE : 0;
	const uint8_t *at = queue == SENDS ? nic_frame(n, 0, 600, 88) : q->buffers[0];

	for (uint32_t i = 0; i < 4; i++)
		table[i] = (struct descriptor){(uint64_t)at, 100, (uint16_t)write, 0};
	if (is_nested(f))
		table[0] = (struct descriptor){(uint64_t)table, 32, INDIRECT, 0};
	q->desc[1] = (struct descriptor){(uint64_t)at, 100, (uint16_t)write, 0};
	q->desc[0] = f->d;
	q->desc[0].addr = f->d.addr > 1 ? f->d.addr : f->d.addr ? (uint64_t)table : (uint64_t)at;
	q->desc[0].flags |= f->no_write ? 0 : (uint16_t)write;
	q->next += f->ahead;
	nic_offer(n, queue, f->head);
}

/* Whether the device says that it needs a reset, by status and interrupt, and works no more until
 * it has one. */
static bool breaks(struct nic *n, uint32_t queue, const struct fault *f)
{
	bool good = nic_agree(n, f->features | F_VERSION_1);
	uint32_t isr = 0;

	nic_set_queue(n, RECEIVES, SLOTS);
	nic_set_queue(n, SENDS, SLOTS);
	nic_set_status(n, SET_UP | DRIVER_OK);
	make(n, queue, f);
	nic_kick(n, queue);
	if (queue == RECEIVES) {
		nic_describe(n, SENDS, 0, nic_frame(n, 0, 601, 88), HEADER + 88, 0, 0);
		nic_offer(n, SENDS, 0);
		nic_kick(n, SENDS);
	}
	for (uint32_t i = 0; i < 30 && !(nic_status(n) & NEEDS_RESET); i++)
		pause();
	good &= nic_status(n) == (SET_UP | DRIVER_OK | NEEDS_RESET);
	for (uint32_t i = 0; i < 10; i++) {
		isr |= irq_take(n);
		pause();
	}
	good &= !!(isr & 2) && !nic_waiting(n, queue);
	nic_kick(n, queue);
	good &= nic_status(n) == (SET_UP | DRIVER_OK | NEEDS_RESET) && !nic_waiting(n, queue);
	good &= nic_start(n, 0, SLOTS) && nic_exchange(n, 602, 60);
	return good;
}

static void check_fault(struct nic *n, uint32_t queue, const char *where, const struct fault *f)
{
	char name[80];
	uint32_t at = 0;

	for (const char *s = where; *s; s++)
		name[at++] = *s;
	for (const char *s = f->name; *s; s++)
		name[at++] = *s;
	name[at] = 0;
	if (f->ahead && !bootarg_num("ahead", 1))
		report_skip("2.1.2", name, "bootargs say so");
	else
		report(breaks(n, queue, f), "2.1.2", name);
}

void check_broken(struct nic *n)
{
	static const struct fault to_send = {.d = {0, 100, WRITE, 0}};
	static const struct fault to_receive = {.d = {0, 100, 0, 0}, .no_write = true};

	nic_quiet(n);
	report(breaks(n, SENDS, &to_send), "2.1.2", "to send: a buffer that may be written only");
	report(breaks(n, RECEIVES, &to_receive), "2.1.2",
	       "to receive: a buffer that may be read only");
	for (uint32_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		check_fault(n, SENDS, "to send: ", &faults[i]);
		check_fault(n, RECEIVES, "to receive: ", &faults[i]);
	}
}

/* --- resets ------------------------------------------------------------------------------------
 */

static uint64_t sum(const struct nic *n)
{
	uint64_t all = 0;

	for (uint32_t q = 0; q < QUEUES; q++) {
		for (uint32_t i = 0; i < 4 * SLOTS + 3; i++)
			all = all * 31 + n->queues[q].used[i];
		for (uint32_t i = 0; i < SLOTS * ROOM; i++)
			all = all * 31 + n->queues[q].buffers[i / ROOM][i % ROOM];
	}
	return all;
}

/* With buffers in both queues, an answer on its way, and an interrupt. */
static void check_reset_in_use(struct nic *n)
{
	uint64_t before;
	bool good;

	(void)nic_start(n, 0, SLOTS);
	nic_quiet(n);
	nic_describe(n, SENDS, 0, nic_frame(n, 0, 700, 60), HEADER + 60, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
	(void)nic_await(n, SENDS, 1);
	nic_describe(n, SENDS, 1, nic_frame(n, 1, 701, 60), HEADER + 60, 0, 0);
	nic_offer(n, SENDS, 1);
	nic_kick(n, SENDS);
	report(nic_reset(n), "2.4.1", "a device in use can be reset");
	before = sum(n);
	report_eq(in8(n->isr), 0, "2.4.1", "the ISR status is 0 then");
	report_eq(irq_take(n), 0, "2.4.1", "and there is no interrupt");
	for (uint32_t i = 0; i < 20; i++) {
		nic_kick(n, RECEIVES);
		nic_kick(n, SENDS);
		pause();
	}
	good = sum(n) == before && !nic_status(n);
	report(good, "2.4.1", "neither queue nor buffers are touched after it");
	report_eq(irq_take(n), 0, "2.4.1", "and no interrupt comes");
	report(nic_start(n, 0, 32) && nic_exchange(n, 702, 60), "2.4.1",
	       "queues begin at index 0 again, with another size");
}

static bool many_resets(struct nic *n)
{
	for (uint32_t i = 0; i < 50; i++) {
		uint64_t features = (i & 1 ? F_EVENT_IDX : 0) | (i & 2 ? F_INDIRECT_DESC : 0);

		if (!nic_start(n, features, SLOTS) || !nic_exchange(n, 710 + i, 60 + i))
			return false;
	}
	return true;
}

void check_resets(struct nic *n)
{
	check_reset_in_use(n);
	report(many_resets(n), "2.4.1",
	       "50 resets, each with other features, and a frame after each");
	(void)nic_start(n, 0, SLOTS);
}
